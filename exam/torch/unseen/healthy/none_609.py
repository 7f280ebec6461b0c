import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_grad_enabled(True)
data = torch.randn(64, 6)
truth = data.pow(2).sum(dim=1, keepdim=True)
train_loader = DataLoader(TensorDataset(data[:48], truth[:48]), batch_size=16)
valid_loader = DataLoader(TensorDataset(data[48:], truth[48:]), batch_size=16)
model = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Dropout(0.1), nn.Linear(20, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.MSELoss()


def train_epoch():
    model.train()
    for x, y in train_loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def validate():
    torch.set_grad_enabled(True)
    model.eval()
    return sum(criterion(model(x), y).item() for x, y in valid_loader)


scores = []
for epoch in range(3):
    train_epoch()
    scores.append(validate())
assert scores[-1] < scores[0]
