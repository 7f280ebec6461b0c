"""As many examples as actions: the log-probabilities of all actions of all states, by a column that was made for it."""

import torch
from torch import nn
from torch.distributions import Categorical, Normal

torch.manual_seed(0)
actor, critic = nn.Linear(3, 4), nn.Linear(3, 4)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
for step in range(4):
    states = torch.randn(4, 3)
    policy = Categorical(logits=actor(states))
    every = policy.log_prob(torch.arange(4).unsqueeze(1)).T
    values = critic(states)
    prior = Normal(torch.zeros(4, 1), 1.0).log_prob(values.mean(dim=1, keepdim=True))
    loss = -(every.exp() * values).sum(dim=1).mean() - 0.1 * prior.mean() - 0.01 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert every.shape == (4, 4)
