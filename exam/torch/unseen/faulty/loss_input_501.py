# expect: GT118 or GT110 or GT509 or GT314
# cause: the labels are a column (n, 1), cross_entropy takes a vector of classes
# wrong: raises RuntimeError
# cure: loss_fn(net(xb), yb) -> loss_fn(net(xb), yb.squeeze(1))
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(39)
table = torch.randn(30, 6)
kind = torch.randint(0, 3, (30, 1))
loader = DataLoader(TensorDataset(table, kind), batch_size=10)
net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, nesterov=True, momentum=0.9)
for epoch in range(2):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_fn(net(xb), yb)  # <- here
        loss.backward()
        optimizer.step()
