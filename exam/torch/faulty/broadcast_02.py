# expect: GT101
# cause: the targets of the data set have shape (n,), the network's output (n, 1), and MSELoss broadcasts them
# wrong: history[-1] > 0.5
# cure: criterion(output, targets) -> criterion(output, targets.unsqueeze(1))
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
features = torch.randn(64, 4)
price = features.sum(dim=1) + 0.1 * torch.randn(64)
loader = DataLoader(TensorDataset(features, price), batch_size=16, shuffle=True)

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)

history = []
for epoch in range(15):
    running = 0.0
    for inputs, targets in loader:
        optimizer.zero_grad()
        output = net(inputs)
        loss = criterion(output, targets)  # <- here
        loss.backward()
        optimizer.step()
        running += loss.item() * len(inputs)
    history.append(running / len(features))
print(history[0], "->", history[-1])
