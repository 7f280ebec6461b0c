import torch
import torch.nn.functional as F
from torch import nn


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(7, 14)
        self.heads = nn.ModuleDict({"age": nn.Linear(14, 1), "income": nn.Linear(14, 1)})

    def forward(self, x):
        h = F.silu(self.trunk(x))
        return {name: head(h).squeeze(1) for name, head in self.heads.items()}


def total_loss(predictions, targets):
    losses = {name: F.mse_loss(predictions[name], targets[name]) for name in predictions}
    weights = torch.tensor([1.0, 0.3])
    stacked = torch.stack(list(losses.values()))
    return (weights * stacked).sum()


torch.manual_seed(0)
model = MultiTask()
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    x = torch.randn(20, 7)
    targets = {"age": x[:, 0], "income": x[:, 1] * 2}
    loss = total_loss(model(x), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
