# expect: GT404 or GT504
# cause: the last layer ends in relu and the targets are negative: all outputs are zero from the start
# wrong: not model[0].weight.grad.any()
# cure: nn.Linear(16, 1), nn.ReLU() -> nn.Linear(16, 1)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(40, 3)
y = -5 - x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.ReLU())  # <- here
with torch.no_grad():
    model[2].bias.fill_(-3.0)  # <- here
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(4):
    loss = (model(x) - y).square().mean()  # <- here
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
