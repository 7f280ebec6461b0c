import torch
from torch import nn

torch.manual_seed(0)
features = nn.Sequential(nn.Conv2d(3, 6, 3), nn.Tanh(), nn.Conv2d(6, 6, 3))
photo = torch.rand(1, 3, 10, 10)
canvas = torch.rand(1, 3, 10, 10, requires_grad=True)
opt = torch.optim.Adam([canvas], lr=0.01)
content = features(photo).detach()
for step in range(4):
    opt.zero_grad()
    loss = nn.functional.mse_loss(features(canvas), content)
    loss.backward()
    opt.step()
assert torch.isfinite(loss)
