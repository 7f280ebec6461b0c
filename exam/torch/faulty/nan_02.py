# expect: GT401
# cause: a constant feature has a standard deviation of zero, and 0 / 0 is NaN
# wrong: torch.isnan(loss).item()
# cure: (x - mean) / std -> (x - mean) / (std + 1e-6)
import torch
from torch import nn

torch.manual_seed(0)
raw = torch.randn(30, 4)
raw[:, 2] = 1.0  # every patient of the sample has it
target = raw[:, :1] - raw[:, 1:2]


def standardise(x):
    mean = x.mean(dim=0)
    std = x.std(dim=0)
    return (x - mean) / std  # <- here


x = standardise(raw)
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    loss = nn.functional.mse_loss(model(x), target)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
