import numpy as np
import torch
from torch import nn


def smooth(rows):
    kernel = np.ones(3, dtype=np.float32) / 3
    return np.stack([np.convolve(row, kernel, mode="same") for row in rows]).astype(np.float32)


class Smoothed(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 11)

    def forward(self, x):
        logits = self.linear(x)
        return torch.nn.functional.avg_pool1d(logits.unsqueeze(1), 3, 1, 1).squeeze(1)


torch.manual_seed(4)
net = Smoothed()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
curve = torch.sin(torch.linspace(0, 3, 11))
for step in range(3):
    x = torch.randn(10, 6)
    error = (net(x) - curve).abs().mean()
    optimizer.zero_grad()
    error.backward()
    optimizer.step()
assert error.isfinite()
