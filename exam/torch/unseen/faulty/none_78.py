# expect: GT201 because GT210 or GT208
# cause: the learned step size is taken out as a number with float() in every iteration of the unrolled solver
# wrong: solver.step.grad is None
# cure: float(self.step) -> self.step
import torch
from torch import nn


class UnrolledLasso(nn.Module):
    def __init__(self, A, rounds=4):
        super().__init__()
        self.register_buffer("A", A)
        self.step = nn.Parameter(torch.tensor(0.05))
        self.threshold = nn.Parameter(torch.tensor(0.01))
        self.rounds = rounds

    def forward(self, b):
        x = b @ self.A
        for _ in range(self.rounds):
            x = x - float(self.step) * (x @ self.A.T - b) @ self.A  # <- here
            x = torch.sign(x) * torch.relu(x.abs() - self.threshold)
        return x


torch.manual_seed(0)
A = torch.randn(10, 15) / 4
code = torch.randn(30, 15) * (torch.rand(30, 15) < 0.2)
solver = UnrolledLasso(A)
opt = torch.optim.Adam(solver.parameters(), lr=1e-3)
for _ in range(3):
    loss = (solver(code @ A.T) - code).square().mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
