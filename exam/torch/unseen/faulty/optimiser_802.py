# expect: GT513
# cause: the convolutions are in a plain list, of which forward makes a Sequential anew in each pass
# wrong: len(list(net.parameters())) == 2
# cure: self.blocks = blocks -> self.blocks = nn.ModuleList(blocks)
import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, channels):
        super().__init__()
        blocks = []
        for a, b in zip(channels, channels[1:]):
            blocks.append(nn.Conv1d(a, b, 3, padding=1))  # <- here
            blocks.append(nn.ReLU())
        self.blocks = blocks  # <- here
        self.head = nn.Linear(channels[-1], 2)

    def forward(self, x):
        features = nn.Sequential(*self.blocks)(x)
        return self.head(features.mean(dim=2))


torch.manual_seed(0)
net = Stack([1, 4, 8])
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)  # <- asked
for step in range(4):
    loss = nn.functional.cross_entropy(net(torch.randn(6, 1, 12)), torch.randint(0, 2, (6,)))
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
