import torch
from torch import nn


def sinc(r):
    small = r.abs() < 1e-8
    return torch.where(small, torch.ones_like(r), torch.sin(r) / torch.where(small, torch.ones_like(r), r))


class RadialFilter(nn.Module):
    """Learned frequencies of a radial basis over the distances of atoms."""

    def __init__(self, filters=6):
        super().__init__()
        self.frequency = nn.Parameter(torch.arange(1.0, filters + 1))
        self.out = nn.Linear(filters, 1)

    def forward(self, distances):
        return self.out(sinc(distances.unsqueeze(-1) * self.frequency).sum(dim=1))


torch.manual_seed(0)
net = RadialFilter()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
atoms = torch.randn(8, 5, 3)
distances = torch.cdist(atoms, atoms, compute_mode="donot_use_mm_for_euclid_dist").flatten(1)
energy = torch.randn(8, 1)
for step in range(2):
    loss = (net(distances) - energy).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert all(p.grad.isfinite().all() for p in net.parameters())
