# expect: GT404 or GT209 or GT201
# cause: the number of correct answers is computed with round, whose derivative is zero everywhere
# wrong: not any(p.grad.any() for p in net.parameters())
# cure: torch.round(torch.sigmoid(net(x))) -> torch.sigmoid(net(x))
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


def dice_loss(mask, truth):
    overlap = (mask * truth).sum()
    return 1 - 2 * overlap / (mask.sum() + truth.sum() + 1e-6)


def step(x, truth):
    mask = torch.round(torch.sigmoid(net(x)))  # <- here
    loss = dice_loss(mask, truth)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
    return float(loss.detach())


curve = []
for iteration in range(4):
    x = torch.randn(50, 5)
    curve.append(step(x, (x[:, :1] > 0).float()))
