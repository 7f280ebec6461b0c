import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Dropout(0.1), nn.Linear(20, 1))
x, y = torch.randn(30, 6), torch.randn(30, 1)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(3):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert net[0].weight.grad.any()
