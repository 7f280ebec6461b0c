# expect: GT511
# cause: the optimiser's gradients are never cleared, so each step uses the sum of all gradients so far
# wrong: losses[-1] > 0.01
# cure: loss.backward()  # <- here -> optimizer.zero_grad()\n    loss.backward()
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 2)
y = x @ torch.tensor([[1.5], [-0.7]]) + 0.3

model = nn.Linear(2, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for epoch in range(60):
    loss = criterion(model(x), y)
    loss.backward()  # <- here
    optimizer.step()  # <- here
    losses.append(loss.item())
