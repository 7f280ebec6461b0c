"""An exponential moving average of the weights, kept beside the model for evaluation."""

import copy

import torch
from torch import nn


class EMA:
    def __init__(self, model, decay=0.9):
        self.model = copy.deepcopy(model).eval()
        self.decay = decay
        for p in self.model.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for ours, theirs in zip(self.model.parameters(), model.parameters()):
            ours.lerp_(theirs, 1 - self.decay)


torch.manual_seed(0)
x, y = torch.randn(30, 5), torch.randn(30, 1)
model = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1))
ema = EMA(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(10):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    ema.update(model)
assert not ema.model(x).requires_grad
assert not torch.equal(ema.model[0].weight, model[0].weight)
