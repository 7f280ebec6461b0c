"""A linear probe: features are computed once without a graph, and only the probe is trained."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Conv1d(1, 4, 5), nn.ReLU(), nn.AdaptiveAvgPool1d(3), nn.Flatten())
encoder.eval()
signals, labels = torch.randn(30, 1, 24), torch.randint(0, 3, (30,))
with torch.no_grad():
    features = encoder(signals)

probe = nn.Linear(12, 3)
optimizer = torch.optim.LBFGS(probe.parameters(), max_iter=5)


def closure():
    optimizer.zero_grad()
    loss = F.cross_entropy(probe(features), labels) + 1e-3 * probe.weight.pow(2).sum()
    loss.backward()
    return loss


first = closure().item()
for _ in range(3):
    last = optimizer.step(closure).item()
assert last < first
