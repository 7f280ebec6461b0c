# expect: GT501
# cause: the probabilities of the actions are normalised over the states of the batch, and Categorical takes the last axis
# wrong: not torch.allclose(probabilities.sum(dim=1), torch.ones(16))
# cure: torch.softmax(actor(state), dim=0)  # <- here -> torch.softmax(actor(state), dim=1)
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
actor = nn.Linear(5, 3)
opt = torch.optim.Adam(actor.parameters(), lr=1e-2)
for _ in range(3):
    state, reward = torch.randn(16, 5), torch.randn(16)
    probabilities = torch.softmax(actor(state), dim=0)  # <- here
    policy = Categorical(probabilities)  # <- here
    loss = -(policy.log_prob(policy.sample()) * reward).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
