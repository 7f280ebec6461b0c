"""A neural ODE solved with Runge-Kutta steps that make new tensors; the state at all times is stacked."""

import torch
from torch import nn


def rk4(f, y, t, dt):
    k1 = f(t, y)
    k2 = f(t + dt / 2, y + dt / 2 * k1)
    k3 = f(t + dt / 2, y + dt / 2 * k2)
    k4 = f(t + dt, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


torch.manual_seed(0)
field = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.Adam(field.parameters(), lr=0.01)
times = torch.linspace(0, 1, 6)
truth = torch.stack([times.cos(), times.sin()], dim=1)
for _ in range(8):
    y, path = truth[0], [truth[0]]
    for i in range(5):
        y = rk4(lambda t, s: field(s), y, times[i], 0.2)
        path.append(y)
    loss = (torch.stack(path) - truth).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert loss.item() < 1
