# expect: GT101
# cause: the distance of each pair keeps its axis, (24, 1), and the labels of the pairs are a vector (24,)
# wrong: loss_pairs.shape == (24, 24)
# cure: F.pairwise_distance(first, second, keepdim=True) -> F.pairwise_distance(first, second)
import torch
import torch.nn.functional as F
from torch import nn


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = nn.Sequential(nn.Conv1d(1, 8, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14, 10))

    def forward(self, first, second):
        return self.tower(first), self.tower(second)


margin = 1.5
torch.manual_seed(0)
net = Siamese()
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
for step in range(4):
    left = torch.randn(24, 1, 32)
    same = torch.randint(0, 2, (24,)).float()
    right = torch.where(same[:, None, None] == 1, left + 0.05 * torch.randn_like(left), torch.randn_like(left))
    first, second = net(left, right)
    distance = F.pairwise_distance(first, second, keepdim=True)
    loss_pairs = same * distance.pow(2) + (1 - same) * (margin - distance).clamp(min=0).pow(2)  # <- here
    loss = loss_pairs.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
