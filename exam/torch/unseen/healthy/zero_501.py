"""A hidden layer with a small positive bias, of which some units are dead."""

import torch
from torch import nn

torch.manual_seed(25)
x, y = torch.rand(24, 6), torch.randn(24, 1)
net = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 1))
nn.init.constant_(net[0].bias, 0.1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
    return loss


final = train(5)
net[0].bias.data[0] = -20.0
train(2)
assert float(net[0].weight.grad.abs().max()) > 0
