# expect: GT401
# cause: the determinant of a covariance of 40 small variances underflows to zero, and its logarithm is minus infinity
# wrong: not bool(loss.isfinite())
# cure: torch.log(torch.det(covariance)) -> torch.logdet(covariance)
import torch
from torch import nn


class FullCovariance(nn.Module):
    def __init__(self, n=40):
        super().__init__()
        self.mean = nn.Parameter(torch.zeros(n))
        self.factor = nn.Parameter(0.05 * torch.eye(n) + 0.001 * torch.randn(n, n))

    def forward(self, x):
        covariance = self.factor @ self.factor.T + 1e-4 * torch.eye(len(self.mean))
        centred = x - self.mean
        mahalanobis = (centred * torch.linalg.solve(covariance, centred.T).T).sum(dim=1)
        return 0.5 * (mahalanobis + torch.log(torch.det(covariance)))  # <- here


torch.manual_seed(0)
density = FullCovariance()
optimizer = torch.optim.Adam(density.parameters(), lr=1e-3)
for step in range(3):
    loss = density(0.05 * torch.randn(60, 40)).mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
