"""Soft actor-critic in short: twin critics, a target without gradients, a learned temperature."""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 16), nn.ReLU(), nn.Linear(16, n_out))


actor, critics = mlp(3, 2), nn.ModuleList([mlp(4, 1), mlp(4, 1)])
targets = copy.deepcopy(critics).requires_grad_(False)
log_alpha = torch.zeros(1, requires_grad=True)
opt_actor = torch.optim.Adam(actor.parameters(), lr=1e-3)
opt_critic = torch.optim.Adam(critics.parameters(), lr=1e-3)
opt_alpha = torch.optim.Adam([log_alpha], lr=1e-3)


def act(state):
    mean, log_std = actor(state).chunk(2, dim=-1)
    dist = Normal(mean, log_std.clamp(-5, 2).exp())
    raw = dist.rsample()
    action = torch.tanh(raw)
    return action, dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)


for step in range(3):
    s, a, r, s2 = torch.randn(10, 3), torch.rand(10, 1), torch.randn(10, 1), torch.randn(10, 3)
    with torch.no_grad():
        a2, logp2 = act(s2)
        q2 = torch.min(*(t(torch.cat([s2, a2], 1)) for t in targets))
        y = r + 0.99 * (q2 - log_alpha.exp() * logp2)
    critic_loss = sum(F.mse_loss(c(torch.cat([s, a], 1)), y) for c in critics)
    opt_critic.zero_grad()
    critic_loss.backward()
    opt_critic.step()

    new_action, logp = act(s)
    q = torch.min(*(c(torch.cat([s, new_action], 1)) for c in critics))
    actor_loss = (log_alpha.exp().detach() * logp - q).mean()
    opt_actor.zero_grad()
    actor_loss.backward()
    opt_actor.step()

    alpha_loss = -(log_alpha.exp() * (logp.detach() + 1.0)).mean()
    opt_alpha.zero_grad()
    alpha_loss.backward()
    opt_alpha.step()
    with torch.no_grad():
        for t, c in zip(targets.parameters(), critics.parameters()):
            t.lerp_(c, 0.01)
assert log_alpha.item() != 0
