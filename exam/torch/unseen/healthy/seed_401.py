import torch
from torch import nn

torch.manual_seed(0)
body, left, right = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
h = torch.tanh(body(torch.randn(10, 4)))
losses = [left(h).square().mean(), right(h).abs().mean()]
torch.autograd.backward(losses, [torch.tensor(1.0), torch.tensor(0.5)])
assert body.weight.grad is not None
