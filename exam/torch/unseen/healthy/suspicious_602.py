import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_optimizer = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
c_optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-3)


def gradient_penalty(real, fake):
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return (slope.norm(dim=1) - 1).square().mean()


gaps = []
for step in range(12):
    real = torch.randn(20, 2) * 0.3 + 2
    fake = generator(torch.randn(20, 4)).detach()
    c_loss = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(real, fake)
    c_optimizer.zero_grad()
    c_loss.backward()
    c_optimizer.step()
    if step % 3 == 2:
        for parameter in critic.parameters():
            parameter.requires_grad_(False)
        g_loss = -critic(generator(torch.randn(20, 4))).mean()
        g_optimizer.zero_grad()
        g_loss.backward()
        g_optimizer.step()
        for parameter in critic.parameters():
            parameter.requires_grad_(True)
    gaps.append(float(c_loss.detach()))
assert all(p.grad is not None for p in generator.parameters())
