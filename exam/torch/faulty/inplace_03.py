# expect: GT309
# cause: the discriminator is stepped between the forward and the backward pass of the generator's loss
# wrong: raises RuntimeError
# cure: g_loss.backward()  # <- asked\nopt_g.step()\n -> opt_g.step()\n
# cure: g_loss = bce(score, real)\n -> g_loss = bce(score, real)\ng_loss.backward(retain_graph=True)\nopt_d.zero_grad()\n
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
discriminator = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
real, fake = torch.ones(16, 1), torch.zeros(16, 1)

samples = torch.randn(16, 2) + 3
generated = generator(torch.randn(16, 2))
opt_g.zero_grad()
opt_d.zero_grad()

score = discriminator(generated)
g_loss = bce(score, real)
d_loss = bce(discriminator(samples), real) + bce(discriminator(generated.detach()), fake)
d_loss.backward()
opt_d.step()  # <- here
g_loss.backward()  # <- asked
opt_g.step()
