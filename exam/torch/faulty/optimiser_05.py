# expect: GT512 or GT513
# cause: the optimiser has the parameters of another instance of the model
# wrong: all(torch.equal(a, b) for a, b in zip(net.parameters(), start))
# cure: torch.optim.SGD(Net().parameters(), lr=0.1) -> torch.optim.SGD(net.parameters(), lr=0.1)
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(3, 10)
        self.fc2 = nn.Linear(10, 1)

    def forward(self, x):
        return self.fc2(torch.sigmoid(self.fc1(x)))


torch.manual_seed(0)
net = Net()
start = [p.detach().clone() for p in net.parameters()]
optimizer = torch.optim.SGD(Net().parameters(), lr=0.1)  # <- here
x, y = torch.randn(25, 3), torch.randn(25, 1)
for epoch in range(5):
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
    print(epoch, loss.item())
