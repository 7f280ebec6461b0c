"""allow_unused says that a term of the energy may not depend on a parameter."""

import torch

a = torch.tensor(1.0, requires_grad=True)
b = torch.tensor(2.0, requires_grad=True)
energy = a**2
ga, gb = torch.autograd.grad(energy, [a, b], allow_unused=True)
assert ga == 2
assert gb is None
