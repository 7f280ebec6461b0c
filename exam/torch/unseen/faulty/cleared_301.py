# expect: GT511
# cause: the critic's gradients of the generator's pass are not cleared before the critic's own pass, and its step uses the sum
# wrong: excess > 0
# cure: loss_c.backward()  # <- here -> opt_c.zero_grad()\n    loss_c.backward()
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
critic = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
opt_g = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
opt_c = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
for _ in range(6):
    real = torch.randn(16, 2) + 2
    fake = generator(torch.randn(16, 3))
    loss_c = critic(fake.detach()).mean() - critic(real).mean()
    (own,) = torch.autograd.grad(loss_c, critic[0].weight, retain_graph=True)
    loss_c.backward()  # <- here
    excess = (critic[0].weight.grad - own).abs().max()
    opt_c.step()  # <- here
    opt_g.zero_grad()
    loss_g = -critic(fake).mean()
    loss_g.backward()  # <- here
    opt_g.step()
