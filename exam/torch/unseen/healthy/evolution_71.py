"""An evolution strategy beside a gradient: parameters are moved without backward, under no_grad as a decorator."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(3, 1)
target = torch.randn(20, 1)
states = torch.randn(20, 3)


@torch.no_grad()
def evolve(generations, sigma=0.1):
    for _ in range(generations):
        base = nn.utils.parameters_to_vector(policy.parameters())
        noise = torch.randn(16, base.numel())
        rewards = []
        for n in noise:
            nn.utils.vector_to_parameters(base + sigma * n, policy.parameters())
            rewards.append(-(policy(states) - target).square().mean())
        r = torch.stack(rewards)
        r = (r - r.mean()) / (r.std() + 1e-8)
        nn.utils.vector_to_parameters(base + 0.05 * (r @ noise) / 16, policy.parameters())


start = nn.functional.mse_loss(policy(states), target).item()
evolve(8)
opt = torch.optim.SGD(policy.parameters(), lr=0.05)
for _ in range(6):
    loss = nn.functional.mse_loss(policy(states), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert loss.item() < start
