"""A control whose first value is pinned outside the recording."""

import torch

torch.manual_seed(44)
control = torch.randn(10, requires_grad=True)
optimizer = torch.optim.LBFGS([control], max_iter=3)
target = torch.sin(torch.linspace(0, 3, 11))


def trajectory():
    control.data[0] = 0.0
    return torch.cat([torch.zeros(1), torch.cumsum(control, 0) * 0.3])


def closure():
    optimizer.zero_grad()
    loss = ((trajectory() - target) ** 2).sum() + 1e-3 * control.square().sum()
    loss.backward()
    return loss


for _ in range(2):
    final = optimizer.step(closure)
assert final.isfinite()
