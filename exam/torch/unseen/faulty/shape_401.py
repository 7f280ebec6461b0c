# expect: GT111 or GT116
# cause: flatten() joins the axis of the examples as well, so that the layer gets one long vector
# wrong: raises RuntimeError
# cure: torch.flatten(self.pool(torch.relu(self.conv(x))))  # <- here -> torch.flatten(self.pool(torch.relu(self.conv(x))), 1)
import torch
from torch import nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.pool = nn.Conv2d(1, 4, 3), nn.MaxPool2d(2)
        self.out = nn.Linear(36, 3)  # <- here

    def forward(self, x):
        x = torch.flatten(self.pool(torch.relu(self.conv(x))))  # <- here
        return self.out(x)  # <- here


torch.manual_seed(0)
net = Small()
loss = net(torch.rand(5, 1, 8, 8)).square().mean()  # <- asked
loss.backward()
