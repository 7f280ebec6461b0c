"""A straight-through estimator by detach: the rounding has the value of round and the gradient of the identity."""

import torch
from torch import nn


def quantise(x, levels=8):
    scaled = torch.sigmoid(x) * (levels - 1)
    hard = torch.round(scaled)
    return scaled + (hard - scaled).detach()


torch.manual_seed(0)
encoder, decoder = nn.Linear(6, 3), nn.Linear(3, 6)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
x = torch.randn(40, 6)
for step in range(6):
    code = quantise(encoder(x))
    loss = nn.functional.mse_loss(decoder(code), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.equal(code, code.round())
assert encoder.weight.grad.abs().sum() > 0
