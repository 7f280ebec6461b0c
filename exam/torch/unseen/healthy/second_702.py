import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
for step in range(3):
    real = torch.randn(20, 2) * 0.3 + 1.0
    fake = generator(torch.randn(20, 3))
    score_real = discriminator(real)
    score_fake = discriminator(fake.detach())
    loss_d = bce(score_real, torch.ones(20, 1)) + bce(score_fake, torch.zeros(20, 1))
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()

    loss_g = bce(discriminator(fake), torch.ones(20, 1))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
assert loss_g.isfinite()
