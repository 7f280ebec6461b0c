# expect: GT514 or GT404
# cause: both matrices of the hand-written network start at zero, so that its hidden units are all alike
# wrong: torch.allclose(net.W1[:, 0], net.W1[:, 1])
# cure: nn.Parameter(torch.zeros(3, 7)) -> nn.Parameter(torch.randn(3, 7))
import torch
from torch import nn


class TwoLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.W1 = nn.Parameter(torch.zeros(3, 7))  # <- here
        self.b1 = nn.Parameter(torch.zeros(7))
        self.W2 = nn.Parameter(torch.zeros(7, 1))  # <- here
        self.b2 = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return torch.sigmoid(x @ self.W1 + self.b1) @ self.W2 + self.b2  # <- asked


torch.manual_seed(0)
x = torch.randn(50, 3)
y = (x[:, :1] * x[:, 1:2]).sign()
net = TwoLayer()
optimizer = torch.optim.SGD(net.parameters(), lr=0.3)
for epoch in range(12):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
