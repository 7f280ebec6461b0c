"""Batch normalisation is kept in eval mode while the rest of a pretrained net is trained."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
net.train()
for module in net.modules():
    if isinstance(module, nn.BatchNorm1d):
        module.eval()
        module.requires_grad_(False)
optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
x, labels = torch.randn(20, 5), torch.randint(0, 2, (20,))
for epoch in range(4):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), labels)
    loss.backward()
    optimizer.step()
assert net[1].num_batches_tracked == 0
assert net[1].weight.grad is None
