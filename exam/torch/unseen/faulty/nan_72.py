# expect: GT402
# cause: a flat patch has a variance of zero, where the root has an infinite slope
# wrong: not all(torch.isfinite(p.grad).all() for p in net.parameters())
# cure: maps.var(dim=(2, 3)).sqrt() -> (maps.var(dim=(2, 3)) + 1e-6).sqrt()
import torch
from torch import nn

torch.manual_seed(1)
net = nn.Conv2d(1, 5, 3)
texture = torch.rand(2, 1, 9, 9)
texture[1] = 0.0
maps = net(texture)
style = maps.var(dim=(2, 3)).sqrt()  # <- here
loss = (style - 0.3).abs().sum()
loss.backward()  # <- asked
