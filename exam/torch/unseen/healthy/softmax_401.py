import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
actor = nn.Linear(5, 3)
opt = torch.optim.Adam(actor.parameters(), lr=1e-2)
for _ in range(3):
    state, reward = torch.randn(16, 5), torch.randn(16)
    probabilities = torch.softmax(actor(state), dim=1)
    policy = Categorical(probabilities)
    loss = -(policy.log_prob(policy.sample()) * reward).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert torch.allclose(probabilities.sum(dim=1), torch.ones(16))
