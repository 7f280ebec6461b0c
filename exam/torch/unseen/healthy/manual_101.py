"""Parameters are replaced by new leaves in each step, as a functional update does."""

import torch

torch.manual_seed(0)
x, y = torch.randn(20, 3), torch.randn(20)
params = {"w": torch.zeros(3, requires_grad=True), "b": torch.zeros((), requires_grad=True)}
for _ in range(14):
    loss = (x @ params["w"] + params["b"] - y).square().mean()
    grads = torch.autograd.grad(loss, list(params.values()))
    params = {name: (p - 0.1 * g).detach().requires_grad_() for (name, p), g in zip(params.items(), grads, strict=True)}
assert params["w"].abs().sum() > 0
