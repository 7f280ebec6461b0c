# expect: GT513 or GT205
# cause: the loop binds the name p to a new tensor in place of changing the parameter, so nothing moves
# wrong: torch.equal(model.weight, start)
# cure: p = p - 0.1 * p.grad -> p -= 0.1 * p.grad
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(20, 3), torch.randn(20, 1)
model = nn.Linear(3, 1)
start = model.weight.detach().clone()
for _ in range(12):
    loss = (model(x) - y).square().mean()
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p = p - 0.1 * p.grad  # <- here
