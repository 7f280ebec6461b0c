"""Logits in the loss, and probabilities where they are reported."""

import torch
from torch import nn


def make_model(classes):
    body = nn.Sequential(nn.Conv1d(1, 6, 5), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten())
    return nn.Sequential(body, nn.Linear(6, classes))


torch.manual_seed(52)
model = make_model(3)
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 1.0]))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
waves, labels = torch.randn(15, 1, 20), torch.randint(0, 3, (15,))
for _ in range(3):
    loss = criterion(model(waves), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
confidence = torch.softmax(model(waves), dim=-1).max(dim=1).values
assert confidence.min() >= 1 / 3
