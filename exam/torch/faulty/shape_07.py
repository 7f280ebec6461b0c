# expect: GT113 or GT110
# cause: skip connection of a small U-Net: an odd length of 25 became 12, and 24 after upsampling
# wrong: raises RuntimeError
# cure: torch.randn(3, 2, 25) -> torch.randn(3, 2, 24)
import torch
from torch import nn


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv1d(2, 4, 3, padding=1)
        self.pool = nn.MaxPool1d(2)
        self.bottom = nn.Conv1d(4, 4, 3, padding=1)
        self.up = nn.Upsample(scale_factor=2)
        self.out = nn.Conv1d(8, 1, 1)

    def forward(self, x):
        skip = torch.relu(self.down(x))
        h = torch.relu(self.bottom(self.pool(skip)))
        h = torch.cat([self.up(h), skip], dim=1)  # <- here
        return self.out(h)


torch.manual_seed(0)
signal = torch.randn(3, 2, 25)  # <- here
net = TinyUNet()
loss = (net(signal) - signal.mean(1, keepdim=True)).pow(2).mean()
loss.backward()
