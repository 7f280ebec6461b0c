"""A dictionary of losses with weights, summed before one backward."""

import torch
import torch.nn.functional as F
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 16), nn.ReLU())
        self.label, self.box, self.score = nn.Linear(16, 3), nn.Linear(16, 4), nn.Linear(16, 1)

    def forward(self, x, target):
        h = self.trunk(x)
        return {
            "label": F.cross_entropy(self.label(h), target["label"]),
            "box": F.smooth_l1_loss(self.box(h), target["box"]),
            "score": F.binary_cross_entropy_with_logits(self.score(h).squeeze(1), target["score"]),
        }


torch.manual_seed(0)
net = Detector()
weights = {"label": 1.0, "box": 5.0, "score": 0.5}
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x = torch.randn(12, 10)
target = {"label": torch.randint(0, 3, (12,)), "box": torch.rand(12, 4), "score": torch.rand(12).round()}
for step in range(3):
    losses = net(x, target)
    total = sum(weights[name] * value for name, value in losses.items())
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
log = {name: value.item() for name, value in losses.items()}
assert set(log) == {"label", "box", "score"}
assert all(p.grad is not None for p in net.parameters())
