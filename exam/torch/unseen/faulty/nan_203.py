# expect: GT401
# cause: the temperature is annealed to exactly zero in the last epoch, and the scores are divided by it
# wrong: not torch.isfinite(loss)
# cure: 1.0 - epoch / 5 -> 1.0 - epoch / 6
import torch
from torch import nn

torch.manual_seed(0)
router = nn.Linear(4, 3)
values = nn.Parameter(torch.randn(3))
opt = torch.optim.Adam([*router.parameters(), values], lr=1e-2)
x, y = torch.randn(20, 4), torch.randn(20)
for epoch in range(6):
    temperature = 1.0 - epoch / 5
    choice = torch.softmax(router(x) / temperature, dim=1)  # <- here
    loss = (choice @ values - y).square().mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
