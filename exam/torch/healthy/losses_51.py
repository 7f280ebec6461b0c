"""A list of losses of different sizes is stacked and weighted by learned log variances that the optimiser has."""

import torch
from torch import nn

torch.manual_seed(0)
trunk, heads = nn.Linear(6, 10), nn.ModuleList([nn.Linear(10, k) for k in (1, 2, 3)])
log_var = nn.Parameter(torch.zeros(3))
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters(), log_var], lr=1e-2)
x = torch.randn(25, 6)
targets = [torch.randn(25, k) for k in (1, 2, 3)]
for step in range(5):
    h = torch.relu(trunk(x))
    losses = torch.stack([nn.functional.mse_loss(head(h), t) for head, t in zip(heads, targets)])
    loss = (torch.exp(-log_var) * losses + log_var).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert log_var.detach().abs().sum() > 0
