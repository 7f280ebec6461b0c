# expect: GT513
# cause: the residual layers are in a plain list, so parameters() does not have them
# wrong: len(list(net.parameters())) == 4
# cure: [nn.Linear(width, width) for _ in range(depth)] -> nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
import torch
from torch import nn


class ResNet(nn.Module):
    def __init__(self, width=8, depth=3):
        super().__init__()
        self.inp = nn.Linear(4, width)
        self.layers = [nn.Linear(width, width) for _ in range(depth)]  # <- here
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = self.inp(x)
        for layer in self.layers:
            h = h + torch.relu(layer(h))
        return self.out(h)


torch.manual_seed(20)
net = ResNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
x, y = torch.randn(32, 4), torch.randn(32, 1)
for _ in range(5):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
