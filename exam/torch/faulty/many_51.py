# expect: GT307
# cause: the derivative is asked of a velocity for each point, not of one number
# wrong: raises RuntimeError
# cure: torch.autograd.grad(potential, position) -> torch.autograd.grad(potential.sum(), position)
import torch

position = torch.linspace(-2, 2, 21, requires_grad=True)


def double_well(x, height=1.0):
    return height * (x**2 - 1) ** 2


potential = double_well(position)  # <- here
(slope,) = torch.autograd.grad(potential, position)  # <- here
force = -slope
print(force)
