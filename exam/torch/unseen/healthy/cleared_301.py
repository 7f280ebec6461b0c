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
    opt_c.zero_grad()
    loss_c.backward()
    excess = (critic[0].weight.grad - own).abs().max()
    opt_c.step()
    opt_g.zero_grad()
    loss_g = -critic(fake).mean()
    loss_g.backward()
    opt_g.step()
assert excess == 0
