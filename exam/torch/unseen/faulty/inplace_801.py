# expect: GT309
# cause: exp has saved the standard deviations, which are then clamped in place
# wrong: raises RuntimeError
# cure: std.clamp_(1e-3, 2.0) -> std = std.clamp(1e-3, 2.0)
import torch
from torch import nn


class Gaussian(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 20), nn.SiLU(), nn.Linear(20, 2))

    def forward(self, x):
        mean, log_std = self.net(x).unbind(dim=-1)
        std = log_std.exp()  # <- here
        std.clamp_(1e-3, 2.0)  # <- here
        return mean, std


torch.manual_seed(0)
model = Gaussian()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(20, 4)
    mean, std = model(x)
    loss = (0.5 * ((x[:, 0] - mean) / std) ** 2 + std.log()).mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
