# expect: GT404
# cause: the hinge is clamped from above instead of from below, so that every violated margin gives zero
# wrong: not model.weight.grad.any()
# cure: clamp(1 - y * model(x)[:, 0], max=0) -> clamp(1 - y * model(x)[:, 0], min=0)
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
with torch.no_grad():
    model.weight.mul_(0.1)
x = torch.randn(40, 4)
y = torch.sign(x[:, 0])
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    hinge = torch.clamp(1 - y * model(x)[:, 0], max=0)  # <- here
    loss = hinge.square().mean() + hinge.mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
