"""A classifier trained with a module, an optimiser and batches."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

angle = torch.linspace(0, 6.0, 40)
inner = torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)
points = torch.cat([inner * 0.5, inner * 1.5])
labels = torch.cat([torch.zeros(40, dtype=torch.long), torch.ones(40, dtype=torch.long)])
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
with torch.no_grad():
    for number, parameter in enumerate(model.parameters()):
        values = torch.sin(torch.arange(parameter.numel()) * 1.7 + number)
        parameter.copy_(values.reshape(parameter.shape))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
loader = DataLoader(TensorDataset(points, labels), batch_size=16)
for epoch in range(15):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(x)
    if epoch % 5 == 0:
        print(f"epoch {epoch}: {total / len(points):.4f}")
model.eval()
with torch.no_grad():
    accuracy = (model(points).argmax(dim=1) == labels).float().mean()
print(f"accuracy {accuracy.item():.2f}")
print(loss)
