# expect: GT308
# cause: LBFGS evaluates its closure several times, and the loss is computed once outside of it
# wrong: raises RuntimeError
# cure: loss = (rosenbrock(point) - 0.0).abs()  # <- here\n\n\n -> \n\n
# cure: opt.zero_grad() -> opt.zero_grad()\n    loss = rosenbrock(point).abs()
import torch

point = torch.tensor([-1.5, 2.0], requires_grad=True)
opt = torch.optim.LBFGS([point], lr=0.1, max_iter=5)


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


loss = (rosenbrock(point) - 0.0).abs()  # <- here


def closure():
    opt.zero_grad()
    loss.backward()  # <- asked
    return loss


for _ in range(2):
    opt.step(closure)  # <- asked
