import torch
from torch import nn


def kernel(a, b, length):
    return torch.exp(-0.5 * (a - b.T).square() / length.square())


class GaussianProcess(nn.Module):
    """Marginal likelihood of a Gaussian process with one input: all pairs of inputs are meant."""

    def __init__(self):
        super().__init__()
        self.raw = nn.ParameterDict(
            {"length": nn.Parameter(torch.zeros(())), "noise": nn.Parameter(torch.tensor(-2.0))}
        )

    def forward(self, x, y):
        length, noise = (nn.functional.softplus(self.raw[k]) for k in ("length", "noise"))
        covariance = kernel(x, x, length) + (noise + 1e-4) * torch.eye(len(x))
        factor = torch.linalg.cholesky(covariance)
        solved = torch.cholesky_solve(y[:, None], factor).squeeze(1)
        return 0.5 * (y @ solved) + factor.diagonal().log().sum()


torch.manual_seed(0)
x = torch.linspace(0, 5, 25, dtype=torch.float64).unsqueeze(1)
y = torch.sin(x).squeeze(1) + 0.1 * torch.randn(25)
gp = GaussianProcess().double()
optimizer = torch.optim.LBFGS(gp.parameters(), lr=0.1, max_iter=5)


def closure():
    optimizer.zero_grad()
    value = gp(x, y)
    value.backward()
    return value


first = closure().item()
for step in range(3):
    optimizer.step(closure)
assert closure().item() < first
