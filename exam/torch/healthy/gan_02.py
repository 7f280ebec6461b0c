"""Wasserstein critic with a gradient penalty: the gradient of a gradient, by create_graph."""

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))


def gradient_penalty(real, fake):
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    score = critic(between)
    (gradient,) = torch.autograd.grad(score, between, torch.ones_like(score), create_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()


for step in range(4):
    real, fake = torch.randn(15, 2) + 1, torch.randn(15, 2)
    loss = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(real, fake)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
# the last bias cancels in the difference of scores and in the penalty: its gradient is zero, as it should be
assert critic[2].bias.grad.abs().item() < 1e-5
assert critic[0].weight.grad.abs().sum() > 0
