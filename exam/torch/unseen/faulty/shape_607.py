# expect: GT110 or GT103
# cause: the norm of the rows is taken without keepdim, so that the matrix is divided by a vector of another length
# wrong: raises RuntimeError
# cure: rows.norm(dim=1) -> rows.norm(dim=1, keepdim=True)
import torch
import torch.nn.functional as F
from torch import nn


def unit_rows(rows):
    return rows / rows.norm(dim=1)  # <- here


class Contrastive(nn.Module):
    def __init__(self, temperature=0.1):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(14, 20), nn.ReLU(), nn.Linear(20, 6))
        self.temperature = temperature

    def forward(self, first, second):
        a, b = unit_rows(self.encoder(first)), unit_rows(self.encoder(second))
        similarity = a @ b.T / self.temperature
        return F.cross_entropy(similarity, torch.arange(len(a)))


torch.manual_seed(0)
model = Contrastive()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(10, 14)
    loss = model(x, x + 0.1 * torch.randn_like(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
