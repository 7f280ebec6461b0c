# expect: GT513
# cause: the weights of the losses are parameters of the loss module, which the optimiser was not given
# wrong: not balance.log_var.any()
# cure: torch.optim.Adam(net.parameters(), lr=1e-2) -> torch.optim.Adam([*net.parameters(), *balance.parameters()], lr=1e-2)
import torch
from torch import nn


class UncertaintyWeights(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.log_var = nn.Parameter(torch.zeros(n))

    def forward(self, losses):
        return (torch.exp(-self.log_var) * losses + self.log_var).sum()


torch.manual_seed(0)
net = nn.Linear(5, 2)
balance = UncertaintyWeights(2)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)  # <- here
x, y = torch.randn(30, 5), torch.randn(30, 2)
for epoch in range(5):
    per_task = (net(x) - y).pow(2).mean(dim=0)
    loss = balance(per_task)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
