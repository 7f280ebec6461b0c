# expect: GT110 or GT113
# cause: the upsampled map is 14 wide, the one that was kept from the encoder 15
# wrong: raises RuntimeError
# cure: scale_factor=2 -> size=15
import torch
import torch.nn.functional as F
from torch import nn


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 4, 3, padding=1)
        self.deep = nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, scan):
        fine = F.relu(self.down(scan))
        coarse = F.relu(self.deep(F.max_pool2d(fine, 2)))
        up = F.interpolate(coarse, scale_factor=2)  # <- here
        return (fine + up).mean(dim=(1, 2, 3))  # <- here


torch.manual_seed(0)
score = Pyramid()(torch.randn(3, 1, 15, 15))
score.sum().backward()
