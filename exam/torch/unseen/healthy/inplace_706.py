import torch
from torch import nn


class Coupling(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width // 2, 20), nn.Tanh(), nn.Linear(20, width // 2))
        self.mix = nn.Linear(width, width, bias=False)
        nn.init.orthogonal_(self.mix.weight)

    def forward(self, x):
        a, b = self.mix(x).chunk(2, dim=-1)
        b = b + self.net(a)
        return torch.cat([b, a], dim=-1)


torch.manual_seed(0)
flow = nn.Sequential(*[Coupling(6) for _ in range(3)])
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-3)
x = torch.randn(50, 6) * torch.tensor([1.0, 2.0, 0.5, 1.0, 1.0, 3.0])
for epoch in range(3):
    z = flow(x)
    loss = 0.5 * z.square().sum(dim=1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
