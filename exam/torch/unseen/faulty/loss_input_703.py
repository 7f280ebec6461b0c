# expect: GT509 or GT401
# cause: the arguments of kl_div are swapped: it takes the logarithms first and the probabilities of the target second
# wrong: bool(loss.isnan())
# cure: F.kl_div(target, log_q, reduction="batchmean") -> F.kl_div(log_q, target, reduction="batchmean")
import torch
import torch.nn.functional as F
from torch import nn


class Embedder(nn.Module):
    """Points in the plane whose neighbourhoods are those of the data, as in t-SNE."""

    def __init__(self, n):
        super().__init__()
        self.points = nn.Parameter(0.1 * torch.randn(n, 2))

    def forward(self):
        affinity = -torch.cdist(self.points, self.points).square()
        affinity = affinity.masked_fill(torch.eye(len(self.points), dtype=torch.bool), -1e9)
        return F.log_softmax(affinity, dim=1)


torch.manual_seed(0)
data = torch.randn(18, 5)
distance = torch.cdist(data, data).square() + 1e9 * torch.eye(18)
target = F.softmax(-distance / 2, dim=1)
model = Embedder(18)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for step in range(4):
    log_q = model()
    loss = F.kl_div(target, log_q, reduction="batchmean")  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
