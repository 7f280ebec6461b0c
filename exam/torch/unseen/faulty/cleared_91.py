# expect: GT511
# cause: zero_grad is called once before the loop, and the gradients add up from step to step
# wrong: grew > 1.5
# cure: loss.backward() -> optimizer.zero_grad()\n    loss.backward()
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
X, y = torch.randn(50, 3), torch.randn(50, 1) + 3
optimizer.zero_grad()
sizes = []
for epoch in range(6):
    loss = nn.functional.mse_loss(model(X), y)
    loss.backward()  # <- here
    optimizer.step()  # <- here
    sizes.append(float(model.weight.grad.norm()))
grew = sizes[-1] / sizes[0]
