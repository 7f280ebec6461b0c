# expect: GT201 or GT305 because GT210 or GT208
# cause: the predictions are collected into a new tensor with torch.tensor, which copies the numbers only
# wrong: raises RuntimeError
# cure: torch.tensor([model(row).squeeze() for row in table]) -> torch.stack([model(row).squeeze() for row in table])
import torch
from torch import nn

torch.manual_seed(0)
table = torch.randn(10, 4)
price = torch.randn(10)
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for epoch in range(2):
    predictions = torch.tensor([model(row).squeeze() for row in table])  # <- here
    loss = nn.functional.mse_loss(predictions, price)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
