# expect: GT511 or GT512 or GT201
# cause: zero_grad stands between the two backward passes, so that the gradients of the first loss are thrown away
# wrong: torch.equal(start, first.weight)
# cure: loss_1.backward()  # <- here\n    opt.zero_grad()  # <- here -> opt.zero_grad()\n    loss_1.backward()
import torch
from torch import nn

torch.manual_seed(0)
first, second = nn.Linear(5, 1), nn.Linear(5, 1)
start = first.weight.detach().clone()
opt = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-2)
x, y = torch.randn(25, 5), torch.randn(25, 2)
for _ in range(6):
    loss_1 = (first(x) - y[:, :1]).square().mean()
    loss_1.backward()  # <- here
    opt.zero_grad()  # <- here
    loss_2 = (second(x) - y[:, 1:]).square().mean()
    loss_2.backward()
    opt.step()  # <- asked
