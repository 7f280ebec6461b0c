"""Activation checkpointing, both kinds, with dropout inside, and `save_on_cpu` and `saved_tensors_hooks`."""

import torch
from measure import Steps
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
from torch_measure import finish


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Dropout(0.2), nn.LayerNorm(32)) for _ in range(3)
        )
        self.tail = nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.last = nn.Linear(32, 1)

    def forward(self, x):
        x = self.first(x)
        for number, block in enumerate(self.blocks):
            x = x + checkpoint(block, x, use_reentrant=number == 0)
        x = checkpoint_sequential(self.tail, 2, x, use_reentrant=False)
        return self.last(x)


torch.manual_seed(0)
x = torch.randn(64, 16)
y = x[:, :1] ** 2
model = Model()
optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
steps = Steps()
for step in range(270):
    with steps:
        optimiser.zero_grad()
        if step % 3 == 1:
            with torch.autograd.graph.save_on_cpu():
                loss = nn.functional.mse_loss(model(x), y)
        elif step % 3 == 2:
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
                loss = nn.functional.mse_loss(model(x), y)
        else:
            loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimiser.step()
    if step % 90 == 0:
        print(f"step {step}: loss {loss.item():.6f}")
finish(steps, model)
