# expect: GT201 or GT512 because GT206 or GT208
# cause: the weights made by the hypernetwork are assigned to .data of a layer, and no gradient goes through that
# wrong: all(p.grad is None for p in hyper.parameters())
# cure: target.weight.data = hyper(z).view(3, 4)  # <- here\n    prediction = target(x)  # <- here -> prediction = nn.functional.linear(x, hyper(z).view(3, 4), target.bias)
import torch
from torch import nn

torch.manual_seed(0)
hyper = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 12))
target = nn.Linear(4, 3)
optimizer = torch.optim.Adam(hyper.parameters(), lr=1e-2)
x, y = torch.randn(18, 4), torch.randn(18, 3)

for task in range(4):
    z = torch.randn(2)
    target.weight.data = hyper(z).view(3, 4)  # <- here
    prediction = target(x)  # <- here
    loss = nn.functional.mse_loss(prediction, y)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
