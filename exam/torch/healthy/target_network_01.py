"""Deep Q-learning with a target network, gather and unsqueeze where they belong, and a soft update."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
q_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = copy.deepcopy(q_net)
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)


def soft_update(source, target, tau=0.05):
    with torch.no_grad():
        for p, q in zip(source.parameters(), target.parameters()):
            q.mul_(1 - tau).add_(tau * p)


for step in range(4):
    state, next_state = torch.randn(16, 4), torch.randn(16, 4)
    action, reward = torch.randint(0, 2, (16,)), torch.rand(16)
    q = q_net(state).gather(1, action.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        target = reward + 0.99 * target_net(next_state).max(dim=1)[0]
    loss = F.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(q_net.parameters(), 1.0)
    optimizer.step()
    soft_update(q_net, target_net)
assert all(p.grad is None for p in target_net.parameters())
assert not torch.equal(q_net[0].weight, target_net[0].weight)
