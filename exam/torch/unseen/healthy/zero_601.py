import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


def dice_loss(mask, truth):
    overlap = (mask * truth).sum()
    return 1 - 2 * overlap / (mask.sum() + truth.sum() + 1e-6)


def step(x, truth):
    mask = torch.sigmoid(net(x))
    loss = dice_loss(mask, truth)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss.detach())


curve = []
for iteration in range(4):
    x = torch.randn(50, 5)
    curve.append(step(x, (x[:, :1] > 0).float()))
assert not (not any(p.grad.any() for p in net.parameters()))
