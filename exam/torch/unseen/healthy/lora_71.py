"""Parametrised weights: spectral normalisation and a symmetric matrix by torch.nn.utils.parametrize."""

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize


class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).transpose(-1, -2)


torch.manual_seed(0)
critic = nn.Sequential(parametrizations.spectral_norm(nn.Linear(4, 8)), nn.ReLU(), nn.Linear(8, 4))
metric = nn.Linear(4, 4, bias=False)
parametrize.register_parametrization(metric, "weight", Symmetric())
both = nn.Sequential(critic, metric)
opt = torch.optim.SGD(both.parameters(), lr=0.05)
x = torch.randn(30, 4)
for _ in range(5):
    out = both(x)
    loss = nn.functional.mse_loss(out, x)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert torch.equal(metric.weight, metric.weight.T)
