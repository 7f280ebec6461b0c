# expect: GT309
# cause: the sigmoid gate is scaled in place after it was saved for its own derivative
# wrong: raises RuntimeError
# cure: gate *= 0.5 -> gate = gate * 0.5
import torch
from torch import nn


class GatedUnit(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Linear(width, width)
        self.value = nn.Linear(width, width)

    def forward(self, x):
        gate = torch.sigmoid(self.gate(x))
        gate *= 0.5  # <- here
        return x + gate * self.value(x)


torch.manual_seed(42)
net = nn.Sequential(GatedUnit(6), GatedUnit(6), nn.Linear(6, 1))
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(12, 6), torch.randn(12, 1)
loss = nn.functional.mse_loss(net(x), y)
optimizer.zero_grad()
loss.backward()  # <- asked
optimizer.step()
