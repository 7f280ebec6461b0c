# expect: GT509
# cause: nll_loss takes logarithms of probabilities and is given the probabilities
# wrong: loss.item() < 0
# cure: F.softmax(self.out(x), dim=1) -> F.log_softmax(self.out(x), dim=1)
import torch
import torch.nn.functional as F
from torch import nn


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 20)
        self.out = nn.Linear(20, 10)

    def forward(self, x):
        x = F.relu(self.fc(x.flatten(1)))
        return F.softmax(self.out(x), dim=1)  # <- here


torch.manual_seed(0)
net = DigitNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
images, digits = torch.rand(30, 8, 8), torch.randint(0, 10, (30,))
for epoch in range(3):
    optimizer.zero_grad()
    loss = F.nll_loss(net(images), digits)  # <- here
    loss.backward()
    optimizer.step()
    print(loss.item())
