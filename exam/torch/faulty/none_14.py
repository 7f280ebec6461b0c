# expect: GT201 or GT204 because GT204 or GT203
# cause: requires_grad is set after the energy was computed
# wrong: raises RuntimeError
# cure: energy = lennard_jones(positions)  # <- here\npositions.requires_grad_(True)  # <- here -> positions.requires_grad_(True)\nenergy = lennard_jones(positions)
import torch


def lennard_jones(r):
    i, j = torch.triu_indices(len(r), len(r), offset=1)
    d = (r[i] - r[j]).norm(dim=1)
    return (4 * (d**-12 - d**-6)).sum()


torch.manual_seed(0)
positions = 1.5 * torch.arange(5.0).unsqueeze(1) + 0.1 * torch.randn(5, 3)
energy = lennard_jones(positions)  # <- here
positions.requires_grad_(True)  # <- here
(gradient,) = torch.autograd.grad(energy, positions)  # <- asked
forces = -gradient
