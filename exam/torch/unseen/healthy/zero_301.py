import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
criterion = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
x, y = torch.randn(24, 6), torch.zeros(24, dtype=torch.long)
for _ in range(4):
    loss = criterion(model(x)[:, 0], y.float())
    opt.zero_grad()
    loss.backward()
    opt.step()
assert model[2].weight.grad.any()
