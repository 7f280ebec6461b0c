# expect: GT101
# cause: the mean over the outputs keeps its axis, (15, 1), and meets the weight of each example, (15,)
# wrong: criterion.last.shape == (15, 15)
# cure: .mean(dim=1, keepdim=True) -> .mean(dim=1)
import torch
import torch.nn.functional as F
from torch import nn


class WeightedHuber(nn.Module):
    """The Huber loss of each example, weighted by how much its measurement is trusted."""

    def forward(self, prediction, target, trust):
        each = F.huber_loss(prediction, target, reduction="none").mean(dim=1, keepdim=True)
        self.last = each * trust  # <- here
        return self.last.sum() / trust.sum()


torch.manual_seed(0)
model, criterion = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3)), WeightedHuber()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(4):
    x, trust = torch.randn(15, 6), torch.rand(15)
    loss = criterion(model(x), x[:, :3] ** 2, trust)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
