# expect: GT118 or GT115
# cause: the classes are numbered from 1 to 5, and the network has outputs 0 to 4
# wrong: raises IndexError
# cure: F.cross_entropy(net(reviews), stars) -> F.cross_entropy(net(reviews), stars - 1)
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
reviews = torch.randn(20, 12)
stars = torch.arange(20) % 5 + 1  # <- here
net = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 5))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(reviews), stars)  # <- here
    loss.backward()
    optimizer.step()
