import torch
from torch.func import grad

torch.manual_seed(0)


def loss(weights, x, y):
    return ((x @ weights["w"] + weights["b"] - y) ** 2).mean()


weights = {"w": torch.randn(4), "b": torch.zeros(())}
x, y = torch.randn(20, 4), torch.randn(20)
for _ in range(3):
    gradients = grad(loss)(weights, x, y)
    weights = {name: weights[name] - 0.1 * gradients[name] for name in weights}
assert gradients["w"].shape == (4,)
