"""The kernel of a Gaussian process from a column and a row, both written as such."""

import torch

torch.manual_seed(0)
x = torch.linspace(0, 1, 15)
y = torch.sin(6 * x)
log_length = torch.tensor(-1.0, requires_grad=True)
log_noise = torch.tensor(-3.0, requires_grad=True)
optimizer = torch.optim.Adam([log_length, log_noise], lr=0.05)
values = []
for step in range(12):
    K = torch.exp(-0.5 * ((x[:, None] - x[None, :]) / log_length.exp()) ** 2)
    K = K + (log_noise.exp() + 1e-4) * torch.eye(15)
    L = torch.linalg.cholesky(K)
    alpha = torch.cholesky_solve(y.unsqueeze(1), L)
    nll = 0.5 * (y.unsqueeze(1) * alpha).sum() + L.diagonal().log().sum()
    optimizer.zero_grad()
    nll.backward()
    optimizer.step()
    values.append(nll.item())
assert values[-1] < values[0]
