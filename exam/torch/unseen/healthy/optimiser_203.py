import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(5, 5)
        self.gain = nn.Parameter(torch.randn(5) * 0.1)

    def forward(self, x):
        return x + self.gain * self.linear(x)


torch.manual_seed(0)
block = Block()
start = block.gain.detach().clone()
opt = torch.optim.Adam(block.parameters(), lr=1e-2)
x, y = torch.randn(30, 5), torch.randn(30, 5)
for _ in range(12):
    loss = nn.functional.mse_loss(block(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert not torch.equal(block.gain.detach(), start)
