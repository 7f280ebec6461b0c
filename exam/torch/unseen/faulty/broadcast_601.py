# expect: GT101 or GT102
# cause: the critic's value is (T, 1) and the discounted returns are (T,)
# wrong: advantages.dim() == 2
# cure: values = self.head(features) -> values = self.head(features).squeeze(-1)
import torch
from torch import nn


class Critic(nn.Module):
    """State value of a policy gradient method."""

    def __init__(self, observations, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, width), nn.Tanh())
        self.head = nn.Linear(width, 1)

    def forward(self, states):
        features = self.body(states)
        values = self.head(features)
        return {"values": values, "features": features}


def discounted(rewards, gamma=0.97):
    """The return after each step of an episode."""
    total, returns = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        returns.insert(0, total)
    return torch.tensor(returns)


torch.manual_seed(3)
critic = Critic(6)
optimizer = torch.optim.Adam(critic.parameters(), lr=3e-3)
for episode in range(4):
    states = torch.randn(40, 6)
    rewards = [float(s.sum() > 0) for s in states]
    returns = discounted(rewards)
    out = critic(states)
    advantages = returns - out["values"]  # <- here
    critic_loss = advantages.pow(2).mean()
    optimizer.zero_grad()
    critic_loss.backward()
    optimizer.step()
