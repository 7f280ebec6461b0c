# expect: GT509
# cause: the network ends in softmax, and CrossEntropyLoss applies log_softmax again
# wrong: not torch.isclose(loss, nn.functional.nll_loss((outputs if outputs.min() >= 0 else outputs.softmax(1)).log(), labels), atol=1e-4)
# cure: nn.Linear(16, 3), nn.Softmax(dim=1) -> nn.Linear(16, 3)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(60, 4)
y = torch.randint(0, 3, (60,))
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3), nn.Softmax(dim=1))  # <- here
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    for inputs, labels in loader:
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)  # <- here
        loss.backward()
        optimizer.step()
