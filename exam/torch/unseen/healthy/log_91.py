"""The running loss and the accuracy are kept as numbers, which no gradient needs."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.AdamW(net.parameters(), lr=0.01)
x, y = torch.randn(30, 4), torch.randint(0, 3, (30,))
history = []
for _ in range(5):
    out = net(x)
    loss = nn.functional.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    accuracy = (out.argmax(1) == y).float().mean().item()
    history.append((loss.item(), accuracy, out.detach().numpy().std()))
assert np.isfinite(history).all()
