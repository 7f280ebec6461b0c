"""The weights are clipped through their NumPy view after the step, when no graph is alive."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 6), nn.LeakyReLU(0.2), nn.Linear(6, 1))
opt = torch.optim.RMSprop(critic.parameters(), lr=5e-3)
real, fake = torch.randn(20, 3) + 1, torch.randn(20, 3)
for _ in range(5):
    opt.zero_grad()
    loss = critic(fake).mean() - critic(real).mean()
    loss.backward()
    opt.step()
    for p in critic.parameters():
        np.clip(p.detach().numpy(), -0.1, 0.1, out=p.detach().numpy())
assert all(p.abs().max() <= 0.1 for p in critic.parameters())
