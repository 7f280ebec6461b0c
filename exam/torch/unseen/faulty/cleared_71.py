# expect: GT511
# cause: the gradients are used for the update by hand in a loop over parameters(), and not reset
# wrong: norms[-1] > 3 * norms[0]
# cure: p -= rate * p.grad -> p -= rate * p.grad\n            p.grad = None
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
x = torch.randn(25, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]])
rate, norms = 1e-3, []
for epoch in range(6):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # <- here
    norms.append(float(model.weight.grad.norm()))
    with torch.no_grad():
        for p in model.parameters():
            p -= rate * p.grad  # <- here
