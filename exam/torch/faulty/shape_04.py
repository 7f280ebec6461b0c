# expect: GT110
# cause: the residual block changes the number of channels, and its shortcut does not
# wrong: raises RuntimeError
# cure: return self.relu(h + x) -> return self.relu(h + self.shortcut(x))
import torch
from torch import nn


class ResidualBlock(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.fc1 = nn.Linear(n_in, n_out)
        self.fc2 = nn.Linear(n_out, n_out)
        self.shortcut = nn.Linear(n_in, n_out, bias=False)
        self.relu = nn.ReLU()

    def forward(self, x):
        h = self.fc2(self.relu(self.fc1(x)))
        return self.relu(h + x)  # <- here


torch.manual_seed(0)
blocks = nn.Sequential(ResidualBlock(16, 16), ResidualBlock(16, 24), nn.Linear(24, 1))
x = torch.randn(10, 16)
loss = blocks(x).mean()
loss.backward()
