"""The history of losses becomes a tensor for its mean, and predictions an array for a plot; neither is used again."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
x = torch.linspace(-1, 1, 50).unsqueeze(1)
y = x**3
model = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
history = []
for epoch in range(40):
    prediction = model(x)
    loss = nn.functional.mse_loss(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(float(loss.detach()))
    curve = prediction.detach().numpy()
smooth = torch.tensor(history)[-5:].mean()
error = np.abs(curve - y.numpy()).max()
assert smooth < history[0]
assert error < 1
