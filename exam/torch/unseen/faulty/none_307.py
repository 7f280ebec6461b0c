# expect: GT201 or GT305 because GT208 or GT209 or GT207
# cause: the loss of the policy is the reward itself, which depends on the network only through sampled actions; log_prob is missing
# wrong: raises RuntimeError
# cure: loss = -reward.mean() -> loss = -(policy.log_prob(action) * reward).mean()
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
    action = policy.sample()  # <- here
    reward = payoff[action]  # <- here
    loss = -reward.mean()  # <- here
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
