# expect: GT509
# cause: the head gives the logarithm of the variance, and gaussian_nll_loss takes the variance
# wrong: raises ValueError
# cure: F.gaussian_nll_loss(mean, y, log_var) -> F.gaussian_nll_loss(mean, y, log_var.exp())
import torch
import torch.nn.functional as F
from torch import nn


class Heteroscedastic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(2, 24), nn.Tanh())
        self.mean, self.log_var = nn.Linear(24, 1), nn.Linear(24, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h).squeeze(1), self.log_var(h).squeeze(1)


torch.manual_seed(0)
model = Heteroscedastic()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(4):
    x = torch.randn(30, 2)
    y = x[:, 0] + x[:, 1].abs() * 0.3 * torch.randn(30)
    mean, log_var = model(x)
    loss = F.gaussian_nll_loss(mean, y, log_var)  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
