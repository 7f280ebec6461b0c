# expect: GT309
# cause: the critic's step changes its weights in place between the forward and the backward pass of the actor's loss
# wrong: raises RuntimeError
# cure: actor_loss = -critic(torch.cat([state, actor(state)], dim=1)).mean()\n -> \n
# cure: actor_optimizer.zero_grad() -> actor_loss = -critic(torch.cat([state, actor(state)], dim=1)).mean()\n    actor_optimizer.zero_grad()
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
    actor_loss = -critic(torch.cat([state, actor(state)], dim=1)).mean()

    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()  # <- here

    actor_optimizer.zero_grad()
    actor_loss.backward()  # <- asked
    actor_optimizer.step()
