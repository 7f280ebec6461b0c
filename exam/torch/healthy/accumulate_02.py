"""Two losses of two forward passes are walked back one after the other before one step, as in a discriminator."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
for step in range(5):
    optimizer.zero_grad()
    real_logits = critic(torch.randn(12, 3) + 2)
    loss_real = F.binary_cross_entropy_with_logits(real_logits, torch.ones_like(real_logits))
    loss_real.backward()
    fake_logits = critic(torch.randn(12, 3))
    loss_fake = F.binary_cross_entropy_with_logits(fake_logits, torch.zeros_like(fake_logits))
    loss_fake.backward()
    optimizer.step()
assert torch.isfinite(loss_real + loss_fake)
