"""A GAN: the discriminator sees detached samples, the generator's step leaves gradients in the discriminator."""

import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-3)
opt_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3)
bce = nn.BCELoss()
valid, fake = torch.ones(20, 1), torch.zeros(20, 1)
start = generator[0].weight.detach().clone()

for step in range(6):
    real = torch.randn(20, 2) * 0.5 + 2
    generated = generator(torch.randn(20, 2))

    opt_d.zero_grad()
    d_loss = (bce(discriminator(real), valid) + bce(discriminator(generated.detach()), fake)) / 2
    d_loss.backward()
    opt_d.step()

    opt_g.zero_grad()
    g_loss = bce(discriminator(generated), valid)
    g_loss.backward()
    opt_g.step()
assert not torch.equal(start, generator[0].weight)
