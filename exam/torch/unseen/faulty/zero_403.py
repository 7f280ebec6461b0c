# expect: GT404
# cause: the dropout is given 1.0 as the probability to keep, and drops everything
# wrong: not net[0].weight.grad.any()
# cure: nn.Dropout(1.0) -> nn.Dropout(0.1)
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Dropout(1.0), nn.Linear(20, 1))  # <- here
x, y = torch.randn(30, 6), torch.randn(30, 1)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(3):
    loss = nn.functional.mse_loss(net(x), y)  # <- here
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
