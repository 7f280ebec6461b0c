# expect: GT401
# cause: the network's output is negative for some pixels, and a negative number has no fractional power
# wrong: torch.isnan(loss)
# cure: linear ** (1 / 2.2) -> linear.clamp(min=1e-6) ** (1 / 2.2)
import torch
from torch import nn

torch.manual_seed(0)
renderer = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(renderer.parameters(), lr=1e-3)
rays, pixels = torch.randn(64, 3), torch.rand(64, 3)
linear = renderer(rays)
srgb = linear ** (1 / 2.2)  # <- here
loss = nn.functional.l1_loss(srgb, pixels)
opt.zero_grad()
loss.backward()
opt.step()
