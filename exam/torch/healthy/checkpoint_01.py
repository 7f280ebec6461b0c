"""Activations are computed again in the backward pass by torch.utils.checkpoint."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Deep(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(10, 10), nn.GELU()) for _ in range(depth))
        self.head = nn.Linear(10, 1)

    def forward(self, x, save_memory):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if save_memory else block(x)
        return self.head(x)


torch.manual_seed(0)
model = Deep()
x, y = torch.randn(8, 10), torch.randn(8, 1)
grads = []
for save_memory in (False, True):
    model.zero_grad()
    nn.functional.mse_loss(model(x, save_memory), y).backward()
    grads.append([p.grad.clone() for p in model.parameters()])
assert all(torch.allclose(a, b) for a, b in zip(*grads))
