"""A Gaussian process whose kernel meets all pairs on purpose."""

import torch
from torch import nn

torch.manual_seed(3)
x = torch.linspace(0, 1, 25)[:, None]
y = torch.sin(6 * x[:, 0]) + 0.1 * torch.randn(25)
mean = nn.Linear(1, 1)
log_length, log_noise = nn.Parameter(torch.tensor(-1.0)), nn.Parameter(torch.tensor(-2.0))
optimizer = torch.optim.Adam([*mean.parameters(), log_length, log_noise], lr=0.02)


def kernel(a, b):
    return torch.exp(-0.5 * (a - b.T) ** 2 / torch.exp(log_length) ** 2)


for _ in range(3):
    covariance = kernel(x, x) + torch.exp(log_noise) * torch.eye(25)
    chol = torch.linalg.cholesky(covariance)
    centred = y - mean(x)[:, 0]
    rows = centred if centred.ndim == 2 else centred[:, None]
    white = torch.cholesky_solve(rows, chol)
    nll = 0.5 * (rows * white).sum() + chol.diagonal().log().sum()
    optimizer.zero_grad()
    nll.backward()
    optimizer.step()
assert not (centred.ndim == 2)
