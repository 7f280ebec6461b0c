# expect: GT309
# cause: sigmoid saved its output, which the += of the skip connection overwrites
# wrong: raises RuntimeError
# cure: h += x  # <- here -> h = h + x
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        h = torch.sigmoid(self.fc(x))
        h += x  # <- here
        return self.norm(h)


torch.manual_seed(0)
net = nn.Sequential(Block(6), Block(6), nn.Linear(6, 1))
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(9, 6), torch.randn(9, 1)
loss = nn.functional.mse_loss(net(x), y)
optimizer.zero_grad()
loss.backward()  # <- asked
optimizer.step()
