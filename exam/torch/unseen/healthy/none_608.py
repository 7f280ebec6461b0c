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
        misfit.backward()
        rate = (rate - 0.05 * rate.grad).detach().requires_grad_()
    return rate


fitted = fit()
assert fitted.isfinite()
