"""Gradients inside of losses: a penalty on the slope of a critic, and a network that solves an equation."""

import torch
from torch import nn


def filled(module):
    """Numbers that do not depend on a generator."""
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            count = parameter.numel()
            parameter.copy_(torch.sin(torch.arange(count) + number).reshape(parameter.shape) * 0.5)
    return module


critic = filled(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
real, fake = torch.sin(torch.arange(15.0)).reshape(5, 3), torch.cos(torch.arange(15.0)).reshape(5, 3)
share = torch.linspace(0, 1, 5).view(5, 1)
between = (share * real + (1 - share) * fake).requires_grad_(True)
score = critic(between)
slope = torch.autograd.grad(score, between, torch.ones_like(score), create_graph=True, retain_graph=True)[0]
penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
penalty.backward()
print(penalty, critic[0].weight.grad, critic[2].bias.grad)

network = filled(nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)))
time = torch.linspace(0, 1, 6).view(-1, 1).requires_grad_(True)
u = network(time)
du = torch.autograd.grad(u, time, torch.ones_like(u), create_graph=True)[0]
d2u = torch.autograd.grad(du, time, torch.ones_like(du), create_graph=True)[0]
print(du.flatten(), d2u.flatten())
optimizer = torch.optim.LBFGS(network.parameters(), max_iter=5, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    u = network(time)
    du = torch.autograd.grad(u.sum(), time, create_graph=True)[0]
    loss = (du + u).pow(2).mean() + (network(torch.zeros(1, 1)) - 1).pow(2).mean()
    loss.backward()
    return loss


for _ in range(3):
    print(f"{optimizer.step(closure).item():.4f}")
