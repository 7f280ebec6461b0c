# expect: GT511
# cause: zero_grad is called for the actor's optimiser twice and for the critic's never
# wrong: size > 2 * critic_size()
# cure: optimizers["actor"].zero_grad()\n    critic_loss -> optimizers["critic"].zero_grad()\n    critic_loss
import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizers = {
    "actor": torch.optim.Adam(actor.parameters(), lr=1e-4),
    "critic": torch.optim.Adam(critic.parameters(), lr=1e-3),
}


def value(states, actions):
    return critic(torch.cat([states, actions], dim=1))


def critic_size():
    loss = (value(states, actions) - rewards).square().mean()
    return sum(g.abs().sum() for g in torch.autograd.grad(loss, list(critic.parameters())))


for step in range(8):
    states, actions = torch.randn(32, 3), torch.rand(32, 1) * 2 - 1
    rewards = -states[:, :1].abs() - actions.abs() - 3
    optimizers["actor"].zero_grad()
    critic_loss = (value(states, actions) - rewards).square().mean()
    critic_loss.backward()  # <- here
    size = sum(p.grad.abs().sum() for p in critic.parameters())
    optimizers["critic"].step()  # <- here

    actor_loss = -value(states, actor(states)).mean()
    optimizers["actor"].zero_grad()
    actor_loss.backward(inputs=list(actor.parameters()))
    optimizers["actor"].step()
