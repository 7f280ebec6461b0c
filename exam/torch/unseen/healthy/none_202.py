import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
stage = nn.Sequential(nn.Linear(6, 12), nn.GELU())
head = nn.Linear(12, 1)
opt = torch.optim.Adam([*stage.parameters(), *head.parameters()], lr=1e-3)
x, y = torch.randn(20, 6), torch.randn(20, 1)
for _ in range(12):
    h = checkpoint(stage, x, use_reentrant=False)
    loss = nn.functional.mse_loss(head(h), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert stage[0].weight.grad is not None
