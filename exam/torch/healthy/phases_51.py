"""Training, then evaluation under inference_mode, then saving and loading the state."""

import io

import torch
from torch import nn


@torch.inference_mode()
def accuracy(model, x, labels):
    return (model(x).argmax(dim=1) == labels).float().mean().item()


torch.manual_seed(0)
x = torch.randn(50, 3)
labels = (x[:, 0] > 0).long()
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, nesterov=True, momentum=0.9)
for epoch in range(20):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), labels).backward()
    optimizer.step()
file = io.BytesIO()
torch.save(model.state_dict(), file)
file.seek(0)
other = nn.Linear(3, 2)
other.load_state_dict(torch.load(file))
assert accuracy(model, x, labels) == accuracy(other, x, labels) > 0.9
