# expect: GT404 or GT504
# cause: the bias of the hidden layer is so negative that no unit is ever positive: the relu lets nothing through
# wrong: float(net[0].weight.grad.abs().max()) == 0.0
# cure: nn.init.constant_(net[0].bias, -20.0) -> nn.init.constant_(net[0].bias, 0.1)
import torch
from torch import nn

torch.manual_seed(25)
x, y = torch.rand(24, 6), torch.randn(24, 1)
net = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 1))
nn.init.constant_(net[0].bias, -20.0)  # <- here
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)  # <- here
        loss.backward()  # <- asked
        optimizer.step()
    return loss


final = train(5)
