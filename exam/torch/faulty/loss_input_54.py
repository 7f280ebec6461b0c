# expect: GT509 or GT118 or GT314
# cause: the class numbers come from a table of floats; cross_entropy wants integers
# wrong: raises RuntimeError
# cure: criterion(net(features), labels) -> criterion(net(features), labels.long())
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
csv = np.column_stack([rng.normal(size=(18, 4)), rng.integers(0, 3, 18)]).astype(np.float32)
features = torch.from_numpy(csv[:, :4])
labels = torch.from_numpy(csv[:, 4])  # <- here

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(2):
    optimizer.zero_grad()
    loss = criterion(net(features), labels)  # <- here
    loss.backward()
    optimizer.step()
