import torch
from torch import nn


def train_epoch(model, batches, criterion, optimizer):
    total = 0.0
    for data, target in batches:
        optimizer.zero_grad()
        output = model(data)
        loss = criterion(output, target)
        loss.backward()
        optimizer.step()
        total += loss
    return total / len(batches)


torch.manual_seed(0)
batches = [(torch.randn(8, 4), torch.randn(8, 2)) for _ in range(3)]
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.Adagrad(model.parameters())
for epoch in range(2):
    mean = train_epoch(model, batches, nn.MSELoss(), optimizer)
assert model[0].weight.grad is not None
