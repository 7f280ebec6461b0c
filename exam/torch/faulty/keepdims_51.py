# expect: GT103 or GT101
# cause: rows are divided by their norms without keepdim; with 16 vectors of length 16 it fits by accident
# wrong: not torch.allclose(unit(torch.randn(16, 16)).norm(dim=1), torch.ones(16), atol=1e-4)
# cure: v.norm(dim=1) -> v.norm(dim=1, keepdim=True)
import torch
import torch.nn.functional as F
from torch import nn


def unit(v):
    return v / v.norm(dim=1)  # <- here


torch.manual_seed(0)
projector = nn.Linear(32, 16)
optimizer = torch.optim.SGD(projector.parameters(), lr=0.1)
a = torch.randn(16, 32)
b = a + 0.1 * torch.randn(16, 32)
for step in range(4):
    similarity = unit(projector(a)) @ unit(projector(b)).T / 0.1
    loss = F.cross_entropy(similarity, torch.arange(16))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
