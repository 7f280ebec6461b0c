# expect: GT511
# cause: zero_grad is named and not called
# wrong: model.weight.grad.abs().max() > 3
# cure: opt.zero_grad  # -> opt.zero_grad()  #
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(30, 4)
y = x.sum(1, keepdim=True) + 3
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(6):
    opt.zero_grad  # <- here
    loss = (model(x) - y).square().mean()
    loss.backward()  # <- here
    opt.step()  # <- here
