import torch
from torch import nn


class Tracker(nn.Module):
    def __init__(self):
        super().__init__()
        self.move = nn.Linear(2, 2)
        nn.init.eye_(self.move.weight)
        nn.init.zeros_(self.move.bias)

    def forward(self, position, detection):
        dx, dy = (detection - self.move(position)).unbind(dim=1)
        bearing = torch.atan2(dy, dx)
        return bearing


torch.manual_seed(0)
net = Tracker()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
position = torch.randn(12, 2)
detection = position + 0.2 * torch.randn(12, 2)
detection[3] = position[3]
for step in range(2):
    loss = (1 - torch.cos(net(position, detection) - 0.3)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert all(p.grad.isfinite().all() for p in net.parameters())
