"""A VAE with rsample and kl_divergence; samples for a picture are drawn with sample under no_grad."""

import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(0)
x = torch.randn(30, 6)
encoder, decoder = nn.Linear(6, 4), nn.Linear(2, 6)
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
for _ in range(12):
    mean, log_scale = encoder(x).chunk(2, dim=1)
    posterior = Normal(mean, log_scale.exp())
    loss = (decoder(posterior.rsample()) - x).square().sum(1).mean()
    loss = loss + kl_divergence(posterior, Normal(0.0, 1.0)).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    picture = decoder(Normal(0.0, 1.0).sample((4, 2)))
assert picture.shape == (4, 6)
