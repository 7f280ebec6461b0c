"""A confusion matrix and a ranking metric in NumPy after each epoch; integer predictions are only counted."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(60, 4)
labels = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for epoch in range(10):
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    predicted = logits.detach().cpu().numpy().argmax(axis=1)
    confusion = np.zeros((3, 3), dtype=int)
    np.add.at(confusion, (labels.numpy(), predicted), 1)
    entropy = torch.distributions.Categorical(logits=logits.detach()).entropy().mean().item()
assert confusion.sum() == 60
assert entropy > 0
