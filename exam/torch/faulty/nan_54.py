# expect: GT402
# cause: pow(0.5) of the distance of an anchor with itself has an infinite slope
# wrong: any(p.grad.isnan().any().item() for p in embed.parameters())
# cure: squared.pow(0.5) -> (squared + 1e-9).pow(0.5)
import torch
from torch import nn


def distance(a, b):
    squared = (a - b).pow(2).sum(dim=1)
    return squared.pow(0.5)  # <- here


def triplet_loss(anchor, positive, negative, margin=1.0):
    return torch.relu(distance(anchor, positive) - distance(anchor, negative) + margin).mean()


torch.manual_seed(0)
embed = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.Adam(embed.parameters(), lr=1e-3)
anchor = torch.randn(10, 6)
positive = anchor + 0.1 * torch.randn(10, 6)
positive[3] = anchor[3]  # the same picture twice in the data
negative = torch.randn(10, 6)
for step in range(2):
    optimizer.zero_grad()
    loss = triplet_loss(embed(anchor), embed(positive), embed(negative))
    loss.backward()  # <- asked
    optimizer.step()
