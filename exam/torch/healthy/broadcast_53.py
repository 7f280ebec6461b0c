"""Several samples of the output for each target: the target is expanded on purpose."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(12, 3), torch.randn(12)
for step in range(4):
    samples = torch.stack([net(x).squeeze(-1) for _ in range(5)])
    loss = (samples - y.unsqueeze(0)).pow(2).mean() + 0.01 * samples.var(dim=0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert samples.shape == (5, 12)
