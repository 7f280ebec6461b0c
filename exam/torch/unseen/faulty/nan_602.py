# expect: GT402
# cause: the root of a squared distance of 0 has an infinite derivative: each point is also compared with itself
# wrong: bool(coordinates.grad.isnan().any())
# cure: .sum(dim=-1).sqrt() -> .sum(dim=-1).add(1e-12).sqrt()
import torch

torch.manual_seed(0)
names = ["a", "b", "c", "d", "e"]
wanted = torch.rand(5, 5)
wanted = (wanted + wanted.T) / 2
wanted.fill_diagonal_(0)
coordinates = torch.nn.Parameter(torch.randn(len(names), 2))
optimizer = torch.optim.LBFGS([coordinates], lr=0.1, max_iter=3)


def distances(points):
    differences = points.unsqueeze(0) - points.unsqueeze(1)
    return differences.pow(2).sum(dim=-1).sqrt()  # <- here


def stress(points):
    return (distances(points) - wanted).pow(2).sum()


def closure():
    optimizer.zero_grad()
    value = stress(coordinates)
    value.backward()  # <- asked
    return value


for round_number in range(2):
    optimizer.step(closure)
