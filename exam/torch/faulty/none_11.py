# expect: GT201 or GT305 because GT207
# cause: the predicted counts are cast to int before they are compared with the counts
# wrong: raises RuntimeError
# cure: model(x).squeeze(1).int() -> model(x).squeeze(1)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(30, 3)
counts = torch.poisson(5 * x.sum(dim=1)).int()
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(3):
    predicted = model(x).squeeze(1).int()  # <- here
    loss = ((predicted - counts) ** 2).float().mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
