# expect: GT201 or GT205 or GT202 because GT205
# cause: the weights are scaled after requires_grad=True, so that the name is a result and the leaf is lost
# wrong: raises TypeError
# cure: torch.randn(8, 1, requires_grad=True) / 8**0.5 -> (torch.randn(8, 1) / 8**0.5).requires_grad_()
import torch

torch.manual_seed(0)
features = torch.randn(100, 8)
target = features @ torch.randn(8, 1)


def initialise():
    weights = torch.randn(8, 1, requires_grad=True) / 8**0.5  # <- here
    bias = torch.zeros(1, requires_grad=True)
    return {"weights": weights, "bias": bias}


def predict(params, x):
    return x @ params["weights"] + params["bias"]


params = initialise()
for epoch in range(5):
    loss = ((predict(params, features) - target) ** 2).mean()
    loss.backward()  # <- asked
    with torch.no_grad():
        for value in params.values():
            value -= 0.1 * value.grad  # <- asked
            value.grad = None
