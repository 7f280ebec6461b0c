# expect: GT201 or GT305 because GT209
# cause: the mask is drawn with bernoulli, which has no derivative by its probabilities
# wrong: gate.grad is None or not gate.grad.any()
# cure: torch.bernoulli(torch.sigmoid(gate)) -> torch.sigmoid(gate)
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(40, 8), torch.randn(40, 1)
model = nn.Linear(8, 1)
gate = nn.Parameter(torch.zeros(8))
opt = torch.optim.Adam([gate, *model.parameters()], lr=1e-2)
for _ in range(3):
    keep = torch.bernoulli(torch.sigmoid(gate))  # <- here
    loss = (model(x * keep) - y).square().mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
