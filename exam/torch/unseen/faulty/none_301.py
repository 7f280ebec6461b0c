# expect: GT201 or GT305 because GT208
# cause: functional_call is given state_dict(), whose tensors are detached from the parameters
# wrong: raises RuntimeError
# cure: weights = dict(model.state_dict())  # <- here -> weights = dict(model.named_parameters())
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(20, 4), torch.randn(20, 1)
for _ in range(3):
    weights = dict(model.state_dict())  # <- here
    prediction = functional_call(model, weights, (x,))
    loss = (prediction - y).square().mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
