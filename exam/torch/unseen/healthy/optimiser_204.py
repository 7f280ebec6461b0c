import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
loss = model(torch.randn(8, 4)).square().mean()
loss.backward()
opt.step()
assert model.weight.grad.any()
