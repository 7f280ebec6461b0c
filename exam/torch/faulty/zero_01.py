# expect: GT404 or GT504
# cause: the bias of the relu layer starts at -20, so that no unit is active for any example
# wrong: not any(p.grad.any() for p in net.hidden.parameters())
# cure: nn.init.constant_(self.hidden.bias, -20.0) -> nn.init.constant_(self.hidden.bias, 0.1)
import torch
from torch import nn


class DeadNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(5, 12)
        self.out = nn.Linear(12, 1)
        nn.init.constant_(self.hidden.bias, -20.0)  # <- here

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))  # <- here


torch.manual_seed(0)
x = torch.randn(40, 5)
y = x.pow(2).sum(dim=1, keepdim=True)
net = DeadNet()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(4):
    optimizer.zero_grad()
    loss = (net(x) - y).pow(2).mean()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
