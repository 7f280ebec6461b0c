# expect: GT402
# cause: the distance of two equal embeddings is the square root of zero, whose derivative is infinite
# wrong: bool(net.weight.grad.isnan().any())
# cure: torch.sqrt(((a - b) ** 2).sum(dim=1)) -> torch.sqrt(((a - b) ** 2).sum(dim=1) + 1e-8)
import torch
from torch import nn

torch.manual_seed(31)
net = nn.Linear(6, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
anchors = torch.randn(10, 6)
positives = anchors + 0.2 * torch.randn(10, 6)
positives[4] = anchors[4]
negatives = torch.randn(10, 6)


def distance(a, b):
    return torch.sqrt(((a - b) ** 2).sum(dim=1))  # <- here


class TripletLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, anchor, positive, negative):
        return torch.relu(distance(anchor, positive) - distance(anchor, negative) + self.margin).mean()


criterion = TripletLoss(margin=10.0)
for _ in range(2):
    loss = criterion(net(anchors), net(positives), net(negatives))
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
