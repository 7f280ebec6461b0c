"""Losses and accuracies leave as numbers for the log; early stopping compares them."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(90, 4)
labels = (x[:, 0] + 0.5 * x[:, 1] > 0).long()
train_x, train_y, val_x, val_y = x[:60], labels[:60], x[60:], labels[60:]

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
best, patience, best_state = float("inf"), 3, None
for epoch in range(40):
    model.train()
    optimizer.zero_grad()
    logits = model(train_x)
    loss = F.cross_entropy(logits, train_y)
    loss.backward()
    optimizer.step()
    accuracy = (logits.argmax(dim=1) == train_y).float().mean().item()
    model.eval()
    with torch.no_grad():
        val_loss = F.cross_entropy(model(val_x), val_y).item()
    if val_loss < best:
        best, patience, best_state = val_loss, 3, copy.deepcopy(model.state_dict())
    else:
        patience -= 1
        if patience == 0:
            break
model.load_state_dict(best_state)
assert accuracy > 0.7
