# expect: GT309
# cause: a leaf that requires a gradient is written in place when its first entry is pinned
# wrong: raises RuntimeError
# cure: control[0] = 0.0 -> control.data[0] = 0.0
import torch

torch.manual_seed(44)
control = torch.randn(10, requires_grad=True)
optimizer = torch.optim.LBFGS([control], max_iter=3)
target = torch.sin(torch.linspace(0, 3, 11))


def trajectory():
    control[0] = 0.0  # <- here
    return torch.cat([torch.zeros(1), torch.cumsum(control, 0) * 0.3])


def closure():
    optimizer.zero_grad()
    loss = ((trajectory() - target) ** 2).sum() + 1e-3 * control.square().sum()
    loss.backward()
    return loss


for _ in range(2):
    final = optimizer.step(closure)
