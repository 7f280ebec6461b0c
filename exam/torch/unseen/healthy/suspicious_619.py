import torch
import torch.nn.functional as F
from torch import nn


class Momentum(nn.Module):
    """Two encoders; the second follows the first one and has no gradient."""

    def __init__(self, width=6, size=32):
        super().__init__()
        self.online = nn.Linear(10, width)
        self.slow = nn.Linear(10, width)
        self.slow.load_state_dict(self.online.state_dict())
        for parameter in self.slow.parameters():
            parameter.requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(size, width), dim=1))

    @torch.no_grad()
    def follow(self, rate=0.99):
        for slow, fast in zip(self.slow.parameters(), self.online.parameters()):
            slow.mul_(rate).add_(fast, alpha=1 - rate)

    def forward(self, a, b):
        q = F.normalize(self.online(a), dim=1)
        with torch.no_grad():
            self.follow()
            k = F.normalize(self.slow(b), dim=1)
        positive = (q * k).sum(dim=1, keepdim=True)
        negative = q @ self.queue.clone().T
        self.queue = torch.cat([self.queue[len(k) :], k])
        return F.cross_entropy(torch.cat([positive, negative], dim=1) / 0.1, torch.zeros(len(a), dtype=torch.long))


torch.manual_seed(0)
model = Momentum()
optimizer = torch.optim.SGD(model.online.parameters(), lr=0.1)
for step in range(5):
    x = torch.randn(8, 10)
    loss = model(x + 0.1 * torch.randn_like(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model.online.weight.grad.any()
