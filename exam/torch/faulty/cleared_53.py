# expect: GT512
# cause: zero_grad stands between backward and step, so that there is no gradient left to step with
# wrong: all(torch.equal(a, b) for a, b in zip(start, net.parameters()))
# cure: loss.backward()\n        optimizer.zero_grad()  # <- here -> optimizer.zero_grad()\n        loss.backward()
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(24, 4), torch.randn(24, 2))
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
start = [p.detach().clone() for p in net.parameters()]
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in DataLoader(data, batch_size=8):
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.zero_grad()  # <- here
        optimizer.step()  # <- here
