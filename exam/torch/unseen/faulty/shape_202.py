# expect: GT314 or GT311 or GT116
# cause: max along an axis gives the values and their positions, and both together are used as a number
# wrong: raises TypeError
# cure: torch.max(q, dim=1)  # <- here -> torch.max(q, dim=1).values
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
state, reward = torch.randn(10, 4), torch.randn(10)
q = net(state)
best = torch.max(q, dim=1)  # <- here
target = reward + 0.9 * best  # <- here
loss = (q[:, 0] - target).square().mean()
loss.backward()
