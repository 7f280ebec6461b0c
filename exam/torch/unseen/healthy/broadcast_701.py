import torch
from torch import nn
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, 32), nn.Tanh())
        self.policy = nn.Linear(32, actions)
        self.value = nn.Linear(32, 1)

    def forward(self, obs):
        hidden = self.body(obs)
        return Categorical(logits=self.policy(hidden)), self.value(hidden).squeeze(-1)


torch.manual_seed(0)
agent = ActorCritic(6, 3)
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4, eps=1e-5)
b_obs = torch.randn(64, 6)
with torch.no_grad():
    policy, _ = agent(b_obs)
    b_actions = policy.sample()
    b_logprobs = policy.log_prob(b_actions)
b_values = torch.randn(64)
returns = torch.randn(64)
advantages = returns - b_values

for epoch in range(3):
    policy, values = agent(b_obs)
    ratio = (policy.log_prob(b_actions) - b_logprobs).exp()
    policy_loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    loss_unclipped = (values - returns) ** 2
    clipped = b_values + torch.clamp(values - b_values, -0.2, 0.2)
    loss_clipped = (clipped - returns) ** 2
    value_loss = 0.5 * torch.max(loss_unclipped, loss_clipped).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
    optimizer.step()
assert values.shape == returns.shape
