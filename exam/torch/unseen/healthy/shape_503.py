"""A diffusion loss with the time beside each sample."""

import torch
from torch import nn

torch.manual_seed(37)
denoiser = nn.Sequential(nn.Linear(7, 16), nn.SiLU(), nn.Linear(16, 6))
optimizer = torch.optim.Adam(denoiser.parameters(), lr=1e-3)


def diffusion_loss(samples):
    t = torch.rand(len(samples), 1)
    noise = torch.randn_like(samples)
    noisy = (1 - t) * samples + t * noise
    predicted = denoiser(torch.cat([noisy, t], dim=1))
    return nn.functional.mse_loss(predicted, noise)


for _ in range(3):
    loss = diffusion_loss(torch.randn(16, 6))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
