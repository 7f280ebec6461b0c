import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(6, 10)
        self.project = nn.Linear(10, 1)

    def forward(self, x):
        h = torch.tanh(self.embed(x))
        return self.project(h)


torch.manual_seed(0)
model = Regressor()
opt = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(20, 6), torch.randn(20, 1)
for _ in range(5):
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
assert torch.isfinite(loss)
