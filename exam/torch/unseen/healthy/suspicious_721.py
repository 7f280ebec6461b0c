"""Cross entropy of values that went through log_softmax already: applying it again changes nothing."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 3), nn.LogSoftmax(dim=1))

    def forward(self, x):
        return self.layers(x)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(30, 7), torch.randint(0, 3, (30,))
for step in range(4):
    out = net(x)
    loss = nn.functional.nll_loss(out, y)
    assert torch.allclose(loss, nn.functional.cross_entropy(out, y))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
