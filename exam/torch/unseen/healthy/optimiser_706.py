import copy

import torch
from torch import nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
target = copy.deepcopy(online)
first = target[0].weight.detach().clone()
optimizer = torch.optim.Adam(online.parameters(), lr=1e-2)


@torch.no_grad()
def soft_update(tau=0.05):
    for kept, new in zip(target.parameters(), online.parameters()):
        kept.copy_(tau * new + (1 - tau) * kept)


for step in range(5):
    s, r, s2 = torch.randn(16, 3), torch.randn(16, 1), torch.randn(16, 3)
    with torch.no_grad():
        goal = r + 0.9 * target(s2)
    loss = nn.functional.mse_loss(online(s), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    soft_update()
assert not torch.equal(target[0].weight, first)
