import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(20, 4), torch.randn(20, 1)
for _ in range(3):
    weights = dict(model.named_parameters())
    prediction = functional_call(model, weights, (x,))
    loss = (prediction - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert model[0].weight.grad is not None
