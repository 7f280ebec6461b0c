# expect: GT501
# cause: the logarithms of probabilities are normalised over axis 0, the examples, and nll_loss reads the classes of a row
# wrong: not torch.allclose(net(x).exp().sum(dim=1), torch.ones(16), atol=1e-4)
# cure: nn.LogSoftmax(dim=0) -> nn.LogSoftmax(dim=1)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(16, 10)
labels = torch.randint(0, 5, (16,))

net = nn.Sequential(
    nn.Linear(10, 12),
    nn.ReLU(),
    nn.Linear(12, 5),
    nn.LogSoftmax(dim=0),  # <- here
)
criterion = nn.NLLLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(5):
    optimizer.zero_grad()
    output = net(x)  # <- here
    loss = criterion(output, labels)  # <- asked
    loss.backward()
    optimizer.step()
