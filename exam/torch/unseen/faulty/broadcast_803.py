# expect: GT101
# cause: the values of the critic are columns (20, 1), the rewards a vector (20,), so the temporal differences are (20, 20)
# wrong: deltas.shape != (20,)
# cure: values, following = critic(states), critic(next_states) -> values, following = critic(states).squeeze(1), critic(next_states).squeeze(1)
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
gamma, lam = 0.99, 0.95
for update in range(3):
    states = torch.randn(20, 4)
    next_states, rewards = states + 0.1 * torch.randn(20, 4), torch.randn(20)
    with torch.no_grad():
        values, following = critic(states), critic(next_states)
        deltas = rewards + gamma * following - values  # <- here
        advantages, running = torch.zeros_like(deltas), 0.0
        for t in reversed(range(20)):
            running = deltas[t] + gamma * lam * running
            advantages[t] = running
    policy = Categorical(logits=actor(states))
    action = policy.sample()
    policy_loss = -(policy.log_prob(action) * advantages).mean()
    value_loss = (critic(states).squeeze(1) - rewards).square().mean()
    loss = policy_loss + 0.5 * value_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
