import torch
from torch import nn


class Heteroscedastic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.mean, self.raw = nn.Linear(16, 1), nn.Linear(16, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), nn.functional.softplus(self.raw(h)) + 1e-3


torch.manual_seed(0)
model = Heteroscedastic()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(28, 4)
y = x.sum(dim=1)
for _ in range(3):
    mean, variance = model(x)
    loss = nn.functional.gaussian_nll_loss(mean[:, 0], y, variance[:, 0])
    fair = nn.functional.gaussian_nll_loss(mean[:, 0], y, variance[:, 0])
    opt.zero_grad()
    loss.backward()
    opt.step()
assert torch.allclose(loss, fair)
