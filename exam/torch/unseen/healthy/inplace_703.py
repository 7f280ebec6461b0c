import torch
from torch import nn


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


torch.manual_seed(0)
actor, critic = mlp(5, 24, 2), mlp(7, 24, 1)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(3):
    state, action, reward = torch.randn(16, 5), torch.randn(16, 2), torch.randn(16, 1)
    critic_loss = nn.functional.mse_loss(critic(torch.cat([state, action], dim=1)), reward)

    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    actor_loss = -critic(torch.cat([state, actor(state)], dim=1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
assert actor_loss.isfinite()
