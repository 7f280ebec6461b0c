import torch
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 24)
        self.policy, self.value = nn.Linear(24, 3), nn.Linear(24, 1)

    def forward(self, state):
        h = torch.tanh(self.body(state))
        return self.policy(h), self.value(h).squeeze(-1)


torch.manual_seed(0)
model = ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
states = torch.randn(40, 4)
with torch.no_grad():
    logits, values = model(states)
    old = torch.distributions.Categorical(logits=logits)
    actions = old.sample()
    old_log_probs = old.log_prob(actions)
returns = torch.randn(40)
advantages = returns - values
advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
for epoch in range(4):
    for index in torch.randperm(40).split(10):
        logits, values = model(states[index])
        now = torch.distributions.Categorical(logits=logits)
        ratio = (now.log_prob(actions[index]) - old_log_probs[index]).exp()
        clipped = ratio.clamp(0.8, 1.2)
        gain = torch.min(ratio * advantages[index], clipped * advantages[index]).mean()
        loss = -gain + 0.5 * (values - returns[index]).square().mean() - 0.01 * now.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
assert loss.isfinite()
