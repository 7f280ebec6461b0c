# expect: GT513
# cause: the head is replaced after the optimiser was made, which still has the old head's parameters
# wrong: torch.equal(net.fc.weight, before)
# cure: net.fc = nn.Linear(12, 5)  # <- here -> net.fc = nn.Linear(12, 5)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)
import torch
import torch.nn.functional as F
from torch import nn


class Pretrained(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(9, 12), nn.ReLU())
        self.fc = nn.Linear(12, 1000)

    def forward(self, x):
        return self.fc(self.features(x))


torch.manual_seed(0)
net = Pretrained()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)  # <- here
net.fc = nn.Linear(12, 5)  # <- here
before = net.fc.weight.detach().clone()

x, labels = torch.randn(30, 9), torch.randint(0, 5, (30,))
for epoch in range(4):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), labels)
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
