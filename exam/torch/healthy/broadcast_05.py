"""Column against column in MSELoss, one weight for each example, and a plain vector loss beside it."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(60, 3)
y = x @ torch.tensor([[1.0], [2.0], [-1.0]])
loader = DataLoader(TensorDataset(x, y, torch.rand(60)), batch_size=15, shuffle=True)

model = nn.Linear(3, 1)
mse = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(20):
    for inputs, target, weight in loader:
        prediction = model(inputs)
        per_example = (prediction - target).squeeze(1) ** 2
        loss = mse(prediction, target) + 0.1 * (weight * per_example).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
assert mse(model(x), y).item() < 1e-2
