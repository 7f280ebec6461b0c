# expect: GT401
# cause: the learning rate is far too large; the linear model's output overflows float32 when it is squared
# wrong: not torch.isfinite(torch.tensor(losses)).all()
# cure: lr=1.0 -> lr=1e-4
import torch
from torch import nn

torch.manual_seed(0)
area = torch.rand(50, 1) * 100
price = 3 * area + 20
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)  # <- here
losses = []
for epoch in range(12):
    error = model(area) - price  # <- here
    loss = (error**2).mean()  # <- here
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
    losses.append(loss.item())
print(losses)
