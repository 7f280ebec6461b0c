# expect: GT113 or GT110
# cause: the skip connection has an odd length that pooling and upsampling do not give back
# wrong: raises RuntimeError
# cure: torch.randn(4, 2, 33) -> torch.randn(4, 2, 32)
# cure: torch.zeros(4, 1, 33) -> torch.zeros(4, 1, 32)
import torch
from torch import nn


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv1d(2, 8, 3, padding=1)
        self.bottom = nn.Conv1d(8, 8, 3, padding=1)
        self.up = nn.ConvTranspose1d(8, 8, 2, stride=2)
        self.out = nn.Conv1d(16, 1, 1)

    def forward(self, x):
        skip = torch.relu(self.down(x))
        low = torch.relu(self.bottom(nn.functional.max_pool1d(skip, 2)))
        joined = torch.cat([skip, self.up(low)], dim=1)  # <- here
        return self.out(joined)


torch.manual_seed(0)
signal = torch.randn(4, 2, 33)
clean = torch.zeros(4, 1, 33)
net = TinyUNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    loss = (net(signal) - clean).abs().mean()
    loss.backward()
    optimizer.step()
