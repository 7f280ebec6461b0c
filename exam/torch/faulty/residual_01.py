# expect: GT102 or GT101
# cause: the last layer has one output where the target has four columns, so that one number is compared with all four
# wrong: model(x).shape[1] == 1
# cure: nn.Linear(16, 1) -> nn.Linear(16, 4)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(30, 6)
y = x @ torch.randn(6, 4)

model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))  # <- here
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    prediction = model(x)
    loss = ((prediction - y) ** 2).mean()  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
