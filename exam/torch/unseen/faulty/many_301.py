# expect: GT307
# cause: torch.func.grad wants a function with one number, and the loss keeps one for each example
# wrong: raises RuntimeError
# cure: return (x @ weights["w"] + weights["b"] - y) ** 2 -> return ((x @ weights["w"] + weights["b"] - y) ** 2).mean()
import torch
from torch.func import grad

torch.manual_seed(0)


def loss(weights, x, y):
    return (x @ weights["w"] + weights["b"] - y) ** 2  # <- here


weights = {"w": torch.randn(4), "b": torch.zeros(())}
x, y = torch.randn(20, 4), torch.randn(20)
for _ in range(3):
    gradients = grad(loss)(weights, x, y)  # <- here
    weights = {name: weights[name] - 0.1 * gradients[name] for name in weights}
