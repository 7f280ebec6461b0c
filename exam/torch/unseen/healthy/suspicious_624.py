import torch
from torch import nn


def initialise(module):
    """Residual branches start as zero, as is usual."""
    for child in module.modules():
        if isinstance(child, Residual):
            nn.init.zeros_(child.second.weight)
            nn.init.zeros_(child.second.bias)


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return x + self.second(torch.relu(self.first(x)))


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 12), Residual(12), Residual(12), nn.Linear(12, 3))
net.apply(initialise)
nn.init.zeros_(net[-1].bias)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
sums = torch.zeros(3)
for step in range(8):
    x = torch.randn(25, 5)
    logits = net(x)
    loss = nn.functional.cross_entropy(logits, x[:, :3].argmax(dim=1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    sums += logits.softmax(dim=0).sum(dim=0).detach()  # share of each class over the batch, for a plot
assert net[1].first.weight.grad.any()
