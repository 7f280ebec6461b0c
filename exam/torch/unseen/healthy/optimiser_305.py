import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
discriminator = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()
start = generator[0].weight.detach().clone()
for _ in range(6):
    real, fake = torch.randn(16, 2) + 3, generator(torch.randn(16, 3))
    loss_d = criterion(discriminator(real), torch.ones(16, 1)) + criterion(
        discriminator(fake.detach()), torch.zeros(16, 1)
    )
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    loss_g = criterion(discriminator(fake), torch.ones(16, 1))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
assert not torch.equal(start, generator[0].weight)
