# expect: GT509
# cause: NLLLoss is fed with the scores of the last layer, which are no logarithms of probabilities
# wrong: float(loss) < 0
# cure: nn.NLLLoss() -> nn.CrossEntropyLoss()
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
objective = nn.NLLLoss()  # <- here
opt = torch.optim.SGD(net.parameters(), lr=0.2)
iris, species = torch.randn(45, 4), torch.arange(45) % 3
for epoch in range(10):
    loss = objective(net(iris), species)  # <- here
    opt.zero_grad()
    loss.backward()
    opt.step()
