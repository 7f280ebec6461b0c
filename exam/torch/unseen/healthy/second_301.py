import torch

point = torch.tensor([-1.5, 2.0], requires_grad=True)
opt = torch.optim.LBFGS([point], lr=0.1, max_iter=5)


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


def closure():
    opt.zero_grad()
    loss = rosenbrock(point).abs()
    loss.backward()
    return loss


for _ in range(2):
    opt.step(closure)
assert torch.isfinite(point).all()
