"""A trained layer is widened: the new parameters are made of the old ones, and a new optimiser has them."""

import torch
from torch import nn


def widen(first, second, extra):
    chosen = torch.randint(0, first.out_features, (extra,))
    first.weight = nn.Parameter(
        torch.cat([first.weight, first.weight[chosen] + 0.01 * torch.randn(extra, first.in_features)])
    )
    first.bias = nn.Parameter(torch.cat([first.bias, first.bias[chosen]]))
    second.weight = nn.Parameter(torch.cat([second.weight, second.weight[:, chosen]], dim=1) * 0.5)
    first.out_features = second.in_features = first.out_features + extra


def train(net, steps):
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(steps):
        x = torch.randn(16, 3)
        loss = (net(x).squeeze(1) - x.prod(dim=1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
train(net, 4)
widen(net[0], net[2], 4)
train(net, 4)
assert net[0].weight.shape == (12, 3)
