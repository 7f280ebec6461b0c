# expect: GT403 or GT402
# cause: the relative error is masked with where after the division by a true value of zero
# wrong: bool(torch.isnan(w.grad).any())
# cure: torch.where(actual > 0, (forecast / actual).log().abs(), torch.zeros_like(actual)) -> (forecast[actual > 0] / actual[actual > 0]).log().abs()
import torch

torch.manual_seed(0)
demand = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0], [2.0, 2.0], [0.0, 0.0]])
actual = torch.tensor([2.0, 0.0, 5.0, 4.0, 0.0])
w = torch.tensor([0.7, 0.7], requires_grad=True)
forecast = demand @ w
error = torch.where(actual > 0, (forecast / actual).log().abs(), torch.zeros_like(actual))  # <- here
error.mean().backward()  # <- asked
