# expect: GT509
# cause: MultiLabelSoftMarginLoss applies a sigmoid itself, and the network ends in one
# wrong: 0 <= float(scores.min()) and float(scores.max()) <= 1
# cure: nn.Linear(32, 6), nn.Sigmoid()) -> nn.Linear(32, 6))
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(15, 32), nn.ReLU(), nn.Linear(32, 6), nn.Sigmoid())  # <- here
criterion = nn.MultiLabelSoftMarginLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(4):
    x = torch.randn(20, 15)
    tags = (x[:, :6] > 0.3).float()
    scores = net(x)  # <- here
    loss = criterion(scores, tags)  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
