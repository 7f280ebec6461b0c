# expect: GT511
# cause: the gradients are cleared in the first step of an epoch only
# wrong: clears < 6
# cure: if batch == 0: -> if True:
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(30, 6)
y = x[:, :1] - x[:, 1:2]
clears = 0
for epoch in range(2):
    for batch in range(3):
        rows = slice(10 * batch, 10 * batch + 10)
        loss = (model(x[rows]) - y[rows]).square().mean()
        if batch == 0:
            optimizer.zero_grad()  # <- here
            clears += 1
        loss.backward()  # <- here
        optimizer.step()  # <- here
