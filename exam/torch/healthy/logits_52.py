"""Softmax inside the network as attention or mixture weights, cross entropy on the logits that come after."""

import torch
import torch.nn.functional as F
from torch import nn


class Mixture(nn.Module):
    def __init__(self, n_in, n_classes, experts=3):
        super().__init__()
        self.gate = nn.Linear(n_in, experts)
        self.experts = nn.ModuleList([nn.Linear(n_in, n_classes) for _ in range(experts)])

    def forward(self, x):
        weight = F.softmax(self.gate(x), dim=1)
        logits = torch.stack([expert(x) for expert in self.experts], dim=1)
        return (weight.unsqueeze(2) * logits).sum(dim=1)


torch.manual_seed(0)
model = Mixture(5, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
x, labels = torch.randn(40, 5), torch.randint(0, 4, (40,))
losses = []
for epoch in range(10):
    loss = F.cross_entropy(model(x), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
