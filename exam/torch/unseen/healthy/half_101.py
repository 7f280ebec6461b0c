"""bfloat16 activations with a loss in float32."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(40, 6), torch.randn(40, 1)
model = nn.Linear(6, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(10):
    out = nn.functional.linear(x.bfloat16(), model.weight.bfloat16(), model.bias.bfloat16())
    loss = (out.float() - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert loss.isfinite()
