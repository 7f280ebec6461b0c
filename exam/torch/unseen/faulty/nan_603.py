# expect: GT401
# cause: a class without an example in the batch has the mean of no values, 0 / 0
# wrong: bool(loss.isnan())
# cure: members.sum(dim=0) -> members.sum(dim=0).clamp(min=1)
import torch
import torch.nn.functional as F
from torch import nn


def centres(embedded, labels, classes):
    """The mean of the embedded examples of each class."""
    members = F.one_hot(labels, classes).float()
    totals = members.T @ embedded
    return totals / members.sum(dim=0).unsqueeze(1)  # <- here


class Prototypes(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, support, labels, query):
        protos = centres(self.embed(support), labels, classes=5)
        return -torch.cdist(self.embed(query), protos).square()


torch.manual_seed(0)
model = Prototypes()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for episode in range(3):
    support, query = torch.randn(8, 6), torch.randn(10, 6)
    labels = torch.tensor([0, 0, 1, 1, 2, 2, 4, 4])
    loss = F.cross_entropy(model(support, labels, query), torch.randint(0, 3, (10,)))
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
