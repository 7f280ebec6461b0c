"""Q-learning: gather of the chosen actions, targets of a copy of the network without gradients."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
s, s2 = torch.randn(32, 4), torch.randn(32, 4)
a, r, done = torch.randint(0, 2, (32, 1)), torch.randn(32), torch.rand(32) < 0.1
for _ in range(4):
    chosen = q(s).gather(1, a).squeeze(1)
    with torch.no_grad():
        goal = r + 0.99 * target(s2).max(dim=1).values * (~done)
    loss = nn.functional.smooth_l1_loss(chosen, goal)
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(q.parameters(), 1.0)
    opt.step()
assert torch.isfinite(loss)
