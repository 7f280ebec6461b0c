# expect: GT308
# cause: the penalty is computed once before the loop, and its graph is used in every step
# wrong: raises RuntimeError
# cure: loss = fit + 0.01 * penalty -> loss = fit + 0.01 * sum(torch.tanh(p).pow(2).sum() for p in model.parameters())
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(5, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x, y = torch.randn(20, 5), torch.randn(20, 1)

penalty = sum(torch.tanh(p).pow(2).sum() for p in model.parameters())  # <- here
for epoch in range(3):
    fit = nn.functional.mse_loss(model(x), y)
    loss = fit + 0.01 * penalty
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
