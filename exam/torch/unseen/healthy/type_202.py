import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(30, 4)
labels = (x.sum(dim=1) > 0).long()
model = nn.Linear(4, 1)
loss = nn.functional.binary_cross_entropy_with_logits(model(x)[:, 0], labels.float())
loss.backward()
assert model.weight.grad.any()
