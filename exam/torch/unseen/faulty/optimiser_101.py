# expect: GT512 or GT511 or GT201
# cause: backward is named and not called, so that there is never a gradient
# wrong: model.weight.grad is None
# cure: loss.backward  # -> loss.backward()  #
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(30, 4), torch.randn(30, 1)
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(12):
    loss = (model(x) - y).square().mean()
    opt.zero_grad()
    loss.backward  # <- here
    opt.step()  # <- here
