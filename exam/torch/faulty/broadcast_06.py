# expect: GT101
# cause: the actor critic's value head gives (16, 1), the returns are (16,): the advantage is (16, 16)
# wrong: advantage.dim() == 2 and advantage.shape[1] == 16
# cure: self.critic(h) -> self.critic(h).squeeze(-1)
import torch
from torch import nn
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 24), nn.Tanh())
        self.actor = nn.Linear(24, 3)
        self.critic = nn.Linear(24, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.actor(h)), self.critic(h)  # <- here


torch.manual_seed(5)
agent = ActorCritic()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)
obs = torch.randn(16, 4)
returns = torch.randn(16)

for update in range(3):
    dist, value = agent(obs)
    action = dist.sample()
    advantage = returns - value  # <- here
    policy_loss = -(dist.log_prob(action) * advantage.detach()).mean()
    value_loss = advantage.pow(2).mean()
    loss = policy_loss + 0.5 * value_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
