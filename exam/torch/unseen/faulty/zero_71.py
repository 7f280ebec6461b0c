# expect: GT404 or GT503 or GT504
# cause: the raw sensor values are in the ten thousands, and tanh is saturated for every example
# wrong: not any(p.grad.any() for p in net[0].parameters())
# cure: sensor = torch.rand(40, 3) * 50_000 + 20_000 -> sensor = torch.rand(40, 3)
import torch
from torch import nn

torch.manual_seed(0)
sensor = torch.rand(40, 3) * 50_000 + 20_000  # <- here
fault = (torch.rand(40, 1) > 0.5).float()
net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))  # <- here
with torch.no_grad():
    net[0].weight.abs_()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(4):
    loss = nn.functional.binary_cross_entropy_with_logits(net(sensor), fault)
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
