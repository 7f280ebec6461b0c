# expect: GT401
# cause: an observation of zero has no logarithm: minus infinity goes through the network, and the distribution refuses the NaN
# wrong: raises ValueError
# cure: torch.log(observation) -> torch.log1p(observation)
import torch
from torch import nn
from torch.distributions import Normal


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, observation):
        scaled = torch.log(observation)  # <- here
        scaled = (scaled - scaled.mean()) / scaled.std()
        return Normal(self.body(scaled), self.log_std.exp())  # <- asked


torch.manual_seed(0)
policy = Policy()
observation = torch.rand(10, 3)
observation[4, 1] = 0.0
distribution = policy(observation)
loss = -distribution.log_prob(torch.randn(10, 1)).mean()
loss.backward()
