# expect: GT101
# cause: the labels of the data frame are (45,), the sigmoid's output (45, 1), and the hand-written loss combines them
# wrong: bce.shape == (45, 45)
# cure: p = model(x) -> p = model(x).squeeze(-1)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(45, 4)
y = (x[:, 0] > 0).float()
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(4):
    p = model(x)  # <- here
    bce = -(y * torch.log(p + 1e-7) + (1 - y) * torch.log(1 - p + 1e-7))  # <- here
    loss = bce.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
