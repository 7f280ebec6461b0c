"""In-place operations that no backward pass needs: relu(inplace=True), += after a linear layer, masked_fill_."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        out = self.fc2(self.relu(self.fc1(x)))
        out += x
        return self.relu(out)


torch.manual_seed(0)
net = nn.Sequential(Block(5), Block(5), nn.Linear(5, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(8, 5), torch.randn(8, 1)
mask = torch.rand(8, 1) < 0.2
for step in range(3):
    error = net(x) - y
    error.masked_fill_(mask, 0.0)
    loss = error.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert all(torch.isfinite(p.grad).all() for p in net.parameters())
