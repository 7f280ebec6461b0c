# expect: GT309
# cause: the heat field is stepped in place, while the squares of the earlier steps are still to be walked back
# wrong: raises RuntimeError
# cure: field += dt * kappa * (field.roll(1) + field.roll(-1) - 2 * field) * field -> field = field + dt * kappa * (field.roll(1) + field.roll(-1) - 2 * field) * field
import torch

torch.manual_seed(0)
kappa = torch.tensor(0.5, requires_grad=True)
start, dt = torch.rand(16), 0.1
measured = torch.rand(16)


def simulate(steps):
    field = start.clone()
    for _ in range(steps):
        field += dt * kappa * (field.roll(1) + field.roll(-1) - 2 * field) * field  # <- here
    return field


misfit = (simulate(5) - measured).pow(2).sum()
misfit.backward()  # <- asked
