"""A conditional GAN whose discriminator is frozen during the generator's turn."""

import torch
import torch.nn.functional as F
from torch import nn


class Conditional(nn.Module):
    def __init__(self, n_in, n_out, classes=3):
        super().__init__()
        self.embed = nn.Embedding(classes, 4)
        self.net = nn.Sequential(nn.Linear(n_in + 4, 12), nn.LeakyReLU(0.2), nn.Linear(12, n_out))

    def forward(self, x, label):
        return self.net(torch.cat([x, self.embed(label)], dim=1))


def switch(module, on):
    for p in module.parameters():
        p.requires_grad_(on)


torch.manual_seed(0)
G, D = Conditional(3, 2), Conditional(2, 1)
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3)
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3)
for step in range(4):
    label = torch.randint(0, 3, (16,))
    real = torch.randn(16, 2) + label.unsqueeze(1)
    switch(D, True)
    with torch.no_grad():
        fake = G(torch.randn(16, 3), label)
    d_loss = F.softplus(-D(real, label)).mean() + F.softplus(D(fake, label)).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    switch(D, False)
    g_loss = F.softplus(-D(G(torch.randn(16, 3), label), label)).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
assert all(p.grad is not None for p in G.parameters())
