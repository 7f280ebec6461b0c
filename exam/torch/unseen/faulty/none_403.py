# expect: GT201 because GT210 or GT208
# cause: the auxiliary loss is added as a number, so that the auxiliary head learns nothing
# wrong: model.depth.weight.grad is None
# cure: "depth": nn.functional.l1_loss(out["depth"], batch["depth"]).item(),  # <- here -> "depth": nn.functional.l1_loss(out["depth"], batch["depth"]),
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Weights:
    label: float = 1.0
    depth: float = 0.5


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.label, self.depth = nn.Linear(16, 4), nn.Linear(16, 1)

    def forward(self, x):
        h = torch.relu(self.body(x))
        return {"label": self.label(h), "depth": self.depth(h)}


torch.manual_seed(0)
model, weights = MultiTask(), Weights()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(4):
    batch = {"x": torch.randn(12, 8), "label": torch.randint(0, 4, (12,)), "depth": torch.rand(12, 1)}
    out = model(batch["x"])
    losses = {
        "label": nn.functional.cross_entropy(out["label"], batch["label"]),
        "depth": nn.functional.l1_loss(out["depth"], batch["depth"]).item(),  # <- here
    }
    total = sum(getattr(weights, name) * value for name, value in losses.items())
    opt.zero_grad()
    total.backward()  # <- asked
    opt.step()  # <- asked
