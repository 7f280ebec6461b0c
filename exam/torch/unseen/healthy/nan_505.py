"""A VAE with a bounded log variance."""

import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(12, 6)
        self.decode = nn.Linear(3, 12)

    def forward(self, x):
        mu, logvar = self.encode(x).chunk(2, dim=1)
        std = torch.exp(logvar.clamp(-10, 10))
        z = mu + std * torch.randn_like(std)
        return self.decode(z), mu, std


torch.manual_seed(33)
vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=1e-3)
readings = 400 * torch.randn(20, 12)
for _ in range(3):
    recon, mu, std = vae(readings)
    kl = -0.5 * torch.mean(1 + 2 * torch.log(std + 1e-9) - mu**2 - std**2)
    loss = F.mse_loss(recon, readings) + kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.isfinite(vae.decode.weight).all()
