# expect: GT309 or GT314
# cause: the diagonal of the learned adjacency matrix is set to zero in place, and it is a leaf that requires a gradient
# wrong: raises RuntimeError
# cure: self.adjacency.fill_diagonal_(0) -> self.adjacency * (1 - torch.eye(len(self.adjacency)))
import torch
from torch import nn


class StructureLearner(nn.Module):
    """x = x A + noise with a matrix A whose diagonal is zero."""

    def __init__(self, variables):
        super().__init__()
        self.adjacency = nn.Parameter(0.1 * torch.randn(variables, variables))

    def forward(self, x):
        matrix = self.adjacency.fill_diagonal_(0)  # <- here
        return x @ matrix, torch.trace(torch.linalg.matrix_exp(matrix * matrix)) - len(matrix)


torch.manual_seed(0)
cause = torch.randn(100, 1)
x = torch.cat([cause, 0.8 * cause + 0.1 * torch.randn(100, 1), torch.randn(100, 2)], dim=1)
model = StructureLearner(4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(5):
    reconstructed, cyclic = model(x)
    loss = (x - reconstructed).square().mean() + 0.1 * cyclic.square() + 0.01 * model.adjacency.abs().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
