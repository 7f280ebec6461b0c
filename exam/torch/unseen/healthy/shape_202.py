import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
state, reward = torch.randn(10, 4), torch.randn(10)
q = net(state)
best = torch.max(q, dim=1).values
target = reward + 0.9 * best
loss = (q[:, 0] - target).square().mean()
loss.backward()
assert loss > 0
