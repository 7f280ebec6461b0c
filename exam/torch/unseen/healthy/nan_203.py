import torch
from torch import nn

torch.manual_seed(0)
router = nn.Linear(4, 3)
values = nn.Parameter(torch.randn(3))
opt = torch.optim.Adam([*router.parameters(), values], lr=1e-2)
x, y = torch.randn(20, 4), torch.randn(20)
for epoch in range(6):
    temperature = 1.0 - epoch / 6
    choice = torch.softmax(router(x) / temperature, dim=1)
    loss = (choice @ values - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert torch.isfinite(loss)
