"""The discriminator is stepped every other time, and the generator's gradients in it are cleared before its own."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
g = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
d = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g, opt_d = torch.optim.RMSprop(g.parameters(), lr=1e-3), torch.optim.RMSprop(d.parameters(), lr=1e-3)
for step in range(8):
    real, noise = torch.randn(12, 2) + 1, torch.randn(12, 4)
    if step % 2 == 0:
        opt_d.zero_grad()
        fake = g(noise).detach()
        loss_d = F.relu(1 - d(real)).mean() + F.relu(1 + d(fake)).mean()
        loss_d.backward()
        opt_d.step()
        with torch.no_grad():
            for p in d.parameters():
                p.clamp_(-0.5, 0.5)
    opt_g.zero_grad()
    loss_g = -d(g(noise)).mean()
    loss_g.backward()
    opt_g.step()
assert loss_g.isfinite()
