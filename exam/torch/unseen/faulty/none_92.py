# expect: GT201 or GT305 because GT209 or GT207
# cause: the loss compares predicted classes, which argmax picks, with the labels
# wrong: raises RuntimeError
# cure: (net(x).argmax(dim=1).float() - y.float()).pow(2).mean() -> nn.functional.cross_entropy(net(x), y)
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
x, y = torch.randn(30, 5), torch.randint(0, 3, (30,))
optimizer = torch.optim.Adam(net.parameters())
for _ in range(3):
    optimizer.zero_grad()
    loss = (net(x).argmax(dim=1).float() - y.float()).pow(2).mean()  # <- here
    loss.backward()  # <- asked
    optimizer.step()
