import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
opt = torch.optim.Adam(actor.parameters(), lr=1e-2)
payoff = torch.tensor([0.1, 1.0, -0.5])
for _ in range(3):
    state = torch.randn(32, 4)
    policy = Categorical(logits=actor(state))
    action = policy.sample()
    reward = payoff[action]
    loss = -(policy.log_prob(action) * reward).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert actor[0].weight.grad is not None
