"""L1 penalty over all parameters and an auxiliary head that is used in training only."""

import torch
import torch.nn.functional as F
from torch import nn


class WithAux(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(6, 8)
        self.main, self.aux = nn.Linear(8, 3), nn.Linear(8, 3)

    def forward(self, x):
        h = torch.relu(self.stem(x))
        return (self.main(h), self.aux(h)) if self.training else self.main(h)


torch.manual_seed(0)
net = WithAux()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x, labels = torch.randn(30, 6), torch.randint(0, 3, (30,))
for epoch in range(4):
    main, aux = net(x)
    penalty = sum(p.abs().sum() for p in net.parameters())
    loss = F.cross_entropy(main, labels) + 0.3 * F.cross_entropy(aux, labels) + 1e-4 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
net.eval()
assert net(x).shape == (30, 3)
