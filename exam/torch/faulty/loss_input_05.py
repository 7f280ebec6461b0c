# expect: GT509
# cause: BCELoss takes probabilities, and the last layer is linear
# wrong: raises RuntimeError
# cure: nn.Linear(10, 1)) -> nn.Linear(10, 1), nn.Sigmoid())
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(40, 3)
y = (x.norm(dim=1, keepdim=True) > 1.5).float()
net = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1))  # <- here
criterion = nn.BCELoss()  # <- here
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    optimizer.zero_grad()
    loss = criterion(net(x), y)  # <- here
    loss.backward()
    optimizer.step()
