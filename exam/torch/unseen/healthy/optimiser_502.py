"""Residual layers in a ModuleList, with a plain list that only names them."""

import torch
from torch import nn


class ResNet(nn.Module):
    def __init__(self, width=8, depth=3):
        super().__init__()
        self.inp = nn.Linear(4, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = self.inp(x)
        for layer in self.layers:
            h = h + torch.relu(layer(h))
        return self.out(h)


torch.manual_seed(20)
net = ResNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
x, y = torch.randn(32, 4), torch.randn(32, 1)
for _ in range(5):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
net.shown = list(net.layers)
assert len(list(net.parameters())) == 10
