import torch
from torch import nn

torch.manual_seed(0)
first, second = nn.Linear(5, 1), nn.Linear(5, 1)
start = first.weight.detach().clone()
opt = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-2)
x, y = torch.randn(25, 5), torch.randn(25, 2)
for _ in range(6):
    loss_1 = (first(x) - y[:, :1]).square().mean()
    opt.zero_grad()
    loss_1.backward()
    loss_2 = (second(x) - y[:, 1:]).square().mean()
    loss_2.backward()
    opt.step()
assert not torch.equal(start, first.weight)
