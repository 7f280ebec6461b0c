# expect: GT307
# cause: the loss has an element for each example and is not reduced to a number
# wrong: raises RuntimeError
# cure: per_sample.backward() -> per_sample.mean().backward()
import torch
from torch import nn


class Triplet(nn.Module):
    def __init__(self, margin=0.5):
        super().__init__()
        self.margin = margin

    def forward(self, anchor, positive, negative):
        near = (anchor - positive).pow(2).sum(dim=1)
        far = (anchor - negative).pow(2).sum(dim=1)
        return torch.relu(near - far + self.margin)


torch.manual_seed(0)
embed = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 4))
optimizer = torch.optim.Adam(embed.parameters(), lr=1e-3)
criterion = Triplet()
for step in range(2):
    anchor, negative = torch.randn(16, 10), torch.randn(16, 10)
    positive = anchor + 0.1 * torch.randn(16, 10)
    per_sample = criterion(embed(anchor), embed(positive), embed(negative))
    optimizer.zero_grad()
    per_sample.backward()  # <- here
    optimizer.step()
