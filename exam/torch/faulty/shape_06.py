# expect: GT118 or GT110 or GT509
# cause: BCEWithLogitsLoss gets logits of shape (n, 1) and targets of shape (n,)
# wrong: raises ValueError
# cure: bce(model(x), y) -> bce(model(x).squeeze(1), y)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(25, 2)
y = (x[:, 0] * x[:, 1] > 0).float()

model = nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 1))
bce = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(10):
    optimizer.zero_grad()
    loss = bce(model(x), y)  # <- here
    loss.backward()
    optimizer.step()
