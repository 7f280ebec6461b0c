"""Fine-tuning: the backbone is frozen, its head replaced before the optimiser is made."""

import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 100))
for param in backbone.parameters():
    param.requires_grad = False
backbone[2] = nn.Linear(16, 2)
before = backbone[0].weight.clone()

optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, backbone.parameters()), lr=0.1)
criterion = nn.CrossEntropyLoss()
inputs, labels = torch.randn(20, 12), torch.randint(0, 2, (20,))
for epoch in range(3):
    optimizer.zero_grad()
    loss = criterion(backbone(inputs), labels)
    loss.backward()
    optimizer.step()
assert torch.equal(before, backbone[0].weight)
assert backbone[2].weight.grad is not None
