"""Actions that are not allowed have logits of minus infinity, and the entropy is taken with care for 0 log 0."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for step in range(4):
    state = torch.randn(16, 5)
    allowed = torch.rand(16, 4) < 0.7
    allowed[:, 0] = True
    logits = policy(state).masked_fill(~allowed, float("-inf"))
    dist = Categorical(logits=logits)
    action = dist.sample()
    returns = torch.randn(16)
    entropy = torch.special.entr(dist.probs).sum(dim=1)
    loss = -(dist.log_prob(action) * returns).mean() - 0.01 * entropy.detach().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert all(p.grad.isfinite().all() for p in policy.parameters())
