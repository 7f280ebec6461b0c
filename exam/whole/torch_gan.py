"""A GAN with a gradient penalty: two optimisers, detached samples, `create_graph`, spectral norm."""

import torch
from measure import Steps
from torch import nn
from torch_measure import finish

torch.manual_seed(0)
real = torch.randn(64, 2) * 0.5 + torch.tensor([1.0, -1.0])
generator = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2))
critic = nn.Sequential(
    nn.utils.parametrizations.spectral_norm(nn.Linear(2, 16)), nn.LeakyReLU(0.2), nn.Linear(16, 1)
)  # fmt: skip
for_generator = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
for_critic = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
steps = Steps()
for step in range(150):
    with steps:
        for _ in range(2):
            fake = generator(torch.randn(64, 4)).detach()
            mix = torch.rand(64, 1)
            between = (mix * real + (1 - mix) * fake).requires_grad_(True)
            (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
            penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
            loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
            for_critic.zero_grad()
            loss.backward()
            for_critic.step()
        for_generator.zero_grad()
        cost = -critic(generator(torch.randn(64, 4))).mean()
        cost.backward()
        for_generator.step()
    if step % 50 == 0:
        print(f"step {step}: critic {loss.item():.6f} generator {cost.item():.6f}")
finish(steps, generator, critic)
