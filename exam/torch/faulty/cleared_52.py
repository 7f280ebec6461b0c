# expect: GT511
# cause: the closure of LBFGS does not clear the gradients, so each evaluation adds to the last
# wrong: not torch.allclose(point, torch.ones(2), atol=1e-2)
# cure: value = rosenbrock(point) -> optimizer.zero_grad()\n    value = rosenbrock(point)
import torch


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


point = torch.tensor([-0.5, 0.5], requires_grad=True)
optimizer = torch.optim.LBFGS([point], max_iter=60, line_search_fn="strong_wolfe")


def closure():
    value = rosenbrock(point)
    value.backward()  # <- here
    return value


for _ in range(3):
    optimizer.step(closure)  # <- here
print(point)
