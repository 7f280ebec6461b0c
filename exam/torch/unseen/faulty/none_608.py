# expect: GT201 or GT205 or GT202 because GT205
# cause: the update binds the name to a new tensor, which is no leaf, so that its gradient is None in the second step
# wrong: raises TypeError
# cure: rate = rate - 0.05 * rate.grad -> rate = (rate - 0.05 * rate.grad).detach().requires_grad_()
import torch

torch.manual_seed(0)
times = torch.linspace(0, 4, 30)
measured = 3.0 * torch.exp(-0.7 * times) + 0.01 * torch.randn(30)


def model(rate, height):
    return height * torch.exp(-rate * times)


def fit(steps=6):
    rate = torch.tensor(0.2, requires_grad=True)
    height = 3.0
    for step in range(steps):
        misfit = torch.mean((model(rate, height) - measured) ** 2)
        misfit.backward()  # <- asked
        rate = rate - 0.05 * rate.grad  # <- here
    return rate


fitted = fit()
