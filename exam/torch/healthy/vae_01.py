"""A variational autoencoder with the reparameterisation trick."""

import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(12, 10)
        self.mu, self.logvar = nn.Linear(10, 2), nn.Linear(10, 2)
        self.dec = nn.Sequential(nn.Linear(2, 10), nn.ReLU(), nn.Linear(10, 12))

    def forward(self, x):
        h = torch.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar


def elbo(logits, x, mu, logvar):
    reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return (reconstruction + kl) / len(x)


torch.manual_seed(0)
vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=1e-2)
data = (torch.rand(32, 12) > 0.5).float()
losses = []
for epoch in range(10):
    loss = elbo(vae(data)[0], data, *vae(data)[1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
