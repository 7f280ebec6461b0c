# expect: GT101
# cause: the model gives a column (50, 1) and y is a vector (50,), so every prediction is compared with every target
# wrong: loss.item() > 0.5
# cure: model(x) - y -> model(x).squeeze(1) - y
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(50, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5]) + 0.05 * torch.randn(50)

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(100):
    optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()  # <- here
    loss.backward()
    optimizer.step()
print(f"final loss {loss.item():.3f}")
