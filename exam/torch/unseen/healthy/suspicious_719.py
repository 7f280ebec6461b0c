"""Channel shuffle, pixel unshuffle and window partition: reshapes with a permutation between them."""

import torch
from torch import nn


def shuffle(x, groups):
    n, c, h, w = x.shape
    return x.view(n, groups, c // groups, h, w).transpose(1, 2).reshape(n, c, h, w)


def windows(x, size):
    n, c, h, w = x.shape
    x = x.view(n, c, h // size, size, w // size, size)
    return x.permute(0, 2, 4, 3, 5, 1).reshape(-1, size * size, c)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.mix = nn.Linear(4, 4)
        self.out = nn.Linear(4, 3)

    def forward(self, x):
        x = shuffle(torch.relu(self.conv(x)), 2)
        tokens = self.mix(windows(x, 4))
        return self.out(tokens.view(len(x), -1, 4).mean(dim=1))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(3):
    loss = nn.functional.cross_entropy(net(torch.randn(4, 2, 8, 8)), torch.randint(0, 3, (4,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert net.conv.weight.grad is not None
