import torch
from torch import nn


class GammaCorrection(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter(torch.tensor(0.8))
        self.gain = nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        return self.gain * (x.clamp(min=-1) * 0.5 + 0.51).pow(self.gamma)


torch.manual_seed(0)
net = nn.Sequential(
    GammaCorrection(), nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)
)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
images = (torch.rand(8, 3, 9, 9) - 0.5) / 0.25
labels = torch.randint(0, 2, (8,))
for step in range(3):
    loss = nn.functional.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
