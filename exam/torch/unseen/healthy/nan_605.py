import torch
from torch import nn

torch.manual_seed(0)


class Coulomb(nn.Module):
    """Energy of charges, without that of a charge with itself."""

    def forward(self, charges, positions):
        r = (positions[:, None, :] - positions[None, :, :]).square().sum(dim=-1)
        near = r < 1e-10
        safe = torch.where(near, torch.ones_like(r), r)
        kernel = torch.where(near, torch.zeros_like(r), torch.sqrt(safe) ** -1)
        return 0.5 * (charges[:, None] * charges[None, :] * kernel).sum()


charges = nn.Parameter(torch.randn(6))
positions = nn.Parameter(torch.rand(6, 3) * 4)
energy = Coulomb()
optimizer = torch.optim.SGD([charges, positions], lr=1e-3)
for step in range(1):
    optimizer.zero_grad()
    value = energy(charges, positions)
    value.backward()
    optimizer.step()
assert not (bool(charges.grad.isnan().any()))
assert not (bool(positions.grad.isnan().any()))
