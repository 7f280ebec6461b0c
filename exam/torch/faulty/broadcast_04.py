# expect: GT101
# cause: the weight of each sample is (20,), the loss of each sample (20, 1)
# wrong: weighted.shape == (20, 20)
# cure: per_sample * weights -> per_sample.squeeze(1) * weights
import torch
import torch.nn.functional as F
from torch import nn


class Regressor(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.hidden = nn.Linear(n_features, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))


torch.manual_seed(3)
x = torch.randn(20, 5)
y = torch.randn(20, 1)
weights = torch.linspace(0.1, 2.0, 20)

net = Regressor(5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    per_sample = F.mse_loss(net(x), y, reduction="none")
    weighted = per_sample * weights  # <- here
    loss = weighted.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
