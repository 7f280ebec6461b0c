import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8), nn.Tanh())
discriminator = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
start = generator[0].weight.detach().clone()
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4)
opt_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4)
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(10, 1), torch.zeros(10, 1)
for _ in range(4):
    real, fake = torch.randn(10, 8), generator(torch.randn(10, 4))
    opt_d.zero_grad()
    loss_d = bce(discriminator(real), ones) + bce(discriminator(fake.detach()), zeros)
    loss_d.backward()
    opt_d.step()
    opt_g.zero_grad()
    loss_g = bce(discriminator(fake), ones)
    loss_g.backward()
    opt_g.step()
assert not torch.equal(start, generator[0].weight)
