# expect: GT511
# cause: zero_grad stands before the loop over batches, so the gradients of all batches of an epoch pile up
# wrong: model.weight.grad.norm().item() > 0.7
# cure: loss.backward()  # <- here -> optimizer.zero_grad()\n            loss.backward()
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(model, loader, optimizer, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for inputs, labels in loader:
            loss = F.cross_entropy(model(inputs), labels)
            loss.backward()  # <- here
            optimizer.step()  # <- here
    return model


torch.manual_seed(0)
x = torch.randn(80, 3)
labels = (x[:, 0] > 0).long()
loader = DataLoader(TensorDataset(x, labels), batch_size=10)
model = nn.Linear(3, 2)
train(model, loader, torch.optim.SGD(model.parameters(), lr=0.05), epochs=4)
