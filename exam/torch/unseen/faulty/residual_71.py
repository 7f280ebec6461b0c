# expect: GT102 or GT101
# cause: the network predicts one number where the arm has two joint angles, and the difference stretches it over both
# wrong: net(pose).shape != angles.shape
# cure: nn.Linear(16, 1) -> nn.Linear(16, 2)
import torch
from torch import nn

torch.manual_seed(6)
angles = torch.rand(60, 2) * 3
pose = torch.stack([angles[:, 0].cos() + angles.sum(1).cos(), angles[:, 0].sin() + angles.sum(1).sin()], dim=1)
net = nn.Sequential(nn.Linear(2, 16), nn.SiLU(), nn.Linear(16, 1))
adam = torch.optim.Adam(net.parameters(), lr=3e-3)
for _ in range(6):
    adam.zero_grad()
    squared = (net(pose) - angles) ** 2  # <- here
    squared.mean().backward()
    adam.step()
