# expect: GT308
# cause: the features of the content image are computed once with their graph, and compared in every step
# wrong: raises RuntimeError
# cure: content = features(photo)  # <- here -> content = features(photo).detach()
import torch
from torch import nn

torch.manual_seed(0)
features = nn.Sequential(nn.Conv2d(3, 6, 3), nn.Tanh(), nn.Conv2d(6, 6, 3))
photo = torch.rand(1, 3, 10, 10)
canvas = torch.rand(1, 3, 10, 10, requires_grad=True)
opt = torch.optim.Adam([canvas], lr=0.01)
content = features(photo)  # <- here
for step in range(4):
    opt.zero_grad()
    loss = nn.functional.mse_loss(features(canvas), content)
    loss.backward()  # <- asked
    opt.step()
