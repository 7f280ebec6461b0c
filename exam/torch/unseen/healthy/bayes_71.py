"""Bayes by backprop: sampled weights, a closed-form KL divergence, softplus for the deviations."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal, kl_divergence


class BayesLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(o, i) * 0.1)
        self.rho = nn.Parameter(torch.full((o, i), -3.0))

    def forward(self, x):
        q = Normal(self.mu, F.softplus(self.rho))
        self.kl = kl_divergence(q, Normal(0.0, 1.0)).sum()
        return F.linear(x, q.rsample())


torch.manual_seed(0)
a, b = BayesLinear(3, 8), BayesLinear(8, 1)
opt = torch.optim.Adam([*a.parameters(), *b.parameters()], lr=0.01)
x = torch.randn(40, 3)
y = x.prod(1, keepdim=True)
for _ in range(5):
    mean = b(torch.relu(a(x)))
    loss = -Normal(mean, 0.1).log_prob(y).mean() + (a.kl + b.kl) / 40
    opt.zero_grad()
    loss.backward()
    opt.step()
assert a.rho.grad.shape == (8, 3)
