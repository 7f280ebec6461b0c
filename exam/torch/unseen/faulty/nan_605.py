# expect: GT403 or GT402
# cause: the branch of where that is not taken divides by a distance of 0, and its gradient is NaN
# wrong: bool(charges.grad.isnan().any()) or bool(positions.grad.isnan().any())
# cure: kernel = torch.where(near, torch.zeros_like(r), torch.sqrt(r) ** -1) -> safe = torch.where(near, torch.ones_like(r), r)\n        kernel = torch.where(near, torch.zeros_like(r), torch.sqrt(safe) ** -1)
import torch
from torch import nn

torch.manual_seed(0)


class Coulomb(nn.Module):
    """Energy of charges, without that of a charge with itself."""

    def forward(self, charges, positions):
        r = (positions[:, None, :] - positions[None, :, :]).square().sum(dim=-1)
        near = r < 1e-10
        kernel = torch.where(near, torch.zeros_like(r), torch.sqrt(r) ** -1)  # <- here
        return 0.5 * (charges[:, None] * charges[None, :] * kernel).sum()


charges = nn.Parameter(torch.randn(6))
positions = nn.Parameter(torch.rand(6, 3) * 4)
energy = Coulomb()
optimizer = torch.optim.SGD([charges, positions], lr=1e-3)
for step in range(1):
    optimizer.zero_grad()
    value = energy(charges, positions)
    value.backward()  # <- asked
    optimizer.step()
