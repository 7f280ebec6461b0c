import torch
from torch import nn

torch.manual_seed(0)


def block(inputs, outputs):
    return [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU()]


network = nn.Sequential(*block(8, 20), *block(20, 10), nn.Linear(10, 3))
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2.0, 5.0]))
optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
for step in range(5):
    x = torch.randn(30, 8)
    tags = (x[:, :3] > 0.5).float()
    answers = network(x)
    loss = criterion(answers, tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (bool((0 <= answers).all() and (answers <= 1).all()))
