"""A gate of many losses: each loss is divided by its own detached value, so that all weigh the same."""

import torch
from torch import nn


class Tasks(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(6, 16)
        self.heads = nn.ModuleDict({"age": nn.Linear(16, 1), "kind": nn.Linear(16, 3)})

    def forward(self, x):
        h = torch.relu(self.trunk(x))
        return {name: head(h) for name, head in self.heads.items()}


torch.manual_seed(0)
model = Tasks()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
running = {}
for step in range(5):
    out = model(torch.randn(12, 6))
    losses = {
        "age": nn.functional.l1_loss(out["age"].squeeze(-1), torch.rand(12)),
        "kind": nn.functional.cross_entropy(out["kind"], torch.randint(0, 3, (12,))),
    }
    for name, value in losses.items():
        running[name] = 0.9 * running.get(name, value.item()) + 0.1 * value.item()
    loss = sum(value / value.detach() for value in losses.values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert set(running) == {"age", "kind"}
