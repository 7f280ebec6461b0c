"""The last layer starts at zero, as is done in residual branches; the units differ after the first step."""

import torch
from torch import nn


class Branch(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc1 = nn.Linear(dim, 2 * dim)
        self.fc2 = nn.Linear(2 * dim, dim)
        nn.init.zeros_(self.fc2.weight)
        nn.init.zeros_(self.fc2.bias)

    def forward(self, x):
        return x + self.fc2(torch.relu(self.fc1(x)))


torch.manual_seed(0)
net = nn.Sequential(Branch(4), Branch(4))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(20, 4)
y = x.flip(1)
for step in range(6):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
assert not torch.allclose(net[0].fc2.weight[0], net[0].fc2.weight[1])
assert net[0].fc1.weight.grad.any()
