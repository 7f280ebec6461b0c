"""A gradient reversal layer for domain adaptation: its backward is minus the derivative, on purpose."""

import torch
import torch.nn.functional as F
from torch import nn


class ReverseGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return -ctx.strength * grad_output, None


torch.manual_seed(0)
features, label_head, domain_head = nn.Linear(5, 8), nn.Linear(8, 3), nn.Linear(8, 2)
modules = nn.ModuleList([features, label_head, domain_head])
optimizer = torch.optim.SGD(modules.parameters(), lr=0.05)
x, labels, domain = torch.randn(24, 5), torch.randint(0, 3, (24,)), torch.arange(24) % 2
for step in range(4):
    h = torch.relu(features(x))
    loss = F.cross_entropy(label_head(h), labels)
    loss = loss + F.cross_entropy(domain_head(ReverseGradient.apply(h, 0.3)), domain)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert features.weight.grad is not None
