import torch
from torch import nn


class Pose(nn.Module):
    """A rotation of the plane that is to bring one cloud of points onto another."""

    def __init__(self):
        super().__init__()
        self.angle = nn.Parameter(torch.zeros(()))

    def matrix(self):
        cosine, sine = self.angle.cos(), self.angle.sin()
        return torch.stack([torch.stack([cosine, -sine]), torch.stack([sine, cosine])])

    def forward(self, points):
        return points @ self.matrix().T


def size_of_rotation(matrix):
    trace = matrix.diagonal().sum()
    return torch.acos((trace / 2).clamp(-1 + 1e-6, 1 - 1e-6))


torch.manual_seed(0)
cloud = torch.randn(30, 2)
turned = cloud @ torch.tensor([[0.8, 0.6], [-0.6, 0.8]])
pose = Pose()
optimizer = torch.optim.Adam(pose.parameters(), lr=1e-2)
for step in range(2):
    misfit = (pose(cloud) - turned).square().mean()
    loss = misfit + 0.01 * size_of_rotation(pose.matrix())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (bool(pose.angle.grad.isnan().any()))
