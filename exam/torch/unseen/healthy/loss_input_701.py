import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(15, 32), nn.ReLU(), nn.Linear(32, 6))
criterion = nn.MultiLabelSoftMarginLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(4):
    x = torch.randn(20, 15)
    tags = (x[:, :6] > 0.3).float()
    scores = net(x)
    loss = criterion(scores, tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert scores.min() < 0
