import torch
from torch import nn


class RootMeanSquareNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        scale = torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + self.eps)
        return x * scale * self.gain


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(4, 12), RootMeanSquareNorm(12), nn.Linear(12, 1)

    def forward(self, x):
        return self.last(torch.relu(self.norm(self.first(x))))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(5):
    x = torch.randn(20, 4)
    loss = (net(x) - x.prod(dim=1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (bool((net.norm.gain == 1).all()))
