"""A linear solve as a custom Function with the adjoint system in its backward; the solution enters a loss."""

import torch
from torch import nn


class Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        x = torch.linalg.solve(a, b)
        ctx.save_for_backward(a, x)
        return x

    @staticmethod
    def backward(ctx, grad):
        a, x = ctx.saved_tensors
        adjoint = torch.linalg.solve(a.T, grad)
        return -torch.outer(adjoint, x), adjoint


class Diffusion(nn.Module):
    def __init__(self, n=8):
        super().__init__()
        self.log_k = nn.Parameter(torch.zeros(n + 1))
        self.n = n

    def forward(self, source):
        k = self.log_k.exp()
        matrix = torch.diag(k[:-1] + k[1:]) - torch.diag(k[1:-1], 1) - torch.diag(k[1:-1], -1)
        return Solve.apply(matrix, source)


torch.manual_seed(0)
model = Diffusion()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
source, observed = torch.ones(8), torch.linspace(0.5, 3, 8)
for step in range(5):
    loss = (model(source) - observed).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model.log_k.grad.isfinite().all()
