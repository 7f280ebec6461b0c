import torch


class GradientDescent:
    """Minimises a function of tensors."""

    def __init__(self, function, start):
        self.function = function
        self.parameters = [torch.tensor(s, requires_grad=True) for s in start]

    def update(self, rate):
        for theta in self.parameters:
            theta.data.sub_(rate * theta.grad)
            theta.grad = None

    def minimise(self, steps, rate=1e-3):
        for _ in range(steps):
            value = self.function(*self.parameters)
            value.backward()
            self.update(rate)
        return value.item()


def rosenbrock(x, y):
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


descent = GradientDescent(rosenbrock, [-1.2, 1.0])
reached = descent.minimise(20)
assert reached < 10
