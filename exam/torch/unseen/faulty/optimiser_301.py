# expect: GT512 or GT513
# cause: after each step the clamped image is a new leaf under the old name, and the optimiser still has the first one
# wrong: (image - second).abs().max() == 0
# cure: image = image.detach().clamp(0, 1).requires_grad_()  # <- here -> with torch.no_grad():\n        image.clamp_(0, 1)
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Tanh(), nn.Flatten(), nn.Linear(4 * 36, 5))
for parameter in net.parameters():
    parameter.requires_grad = False
image = torch.rand(1, 1, 8, 8, requires_grad=True)
opt = torch.optim.Adam([image], lr=0.05)  # <- here
for step in range(6):
    opt.zero_grad()
    loss = -net(image)[0, 2]
    loss.backward()  # <- asked
    opt.step()  # <- asked
    image = image.detach().clamp(0, 1).requires_grad_()  # <- here
    if step == 1:
        second = image.detach().clone()
