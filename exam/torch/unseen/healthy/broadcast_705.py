import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Houses(Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 5)
        self.y = self.x @ torch.tensor([2.0, 0.0, -1.0, 0.5, 1.0]) + 3.0

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


torch.manual_seed(0)
train, test = Houses(80), Houses(30)
model = nn.Sequential(nn.Linear(5, 16), nn.ELU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(5):
    model.train()
    for x, y in DataLoader(train, batch_size=16, shuffle=True):
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        x_test, y_test = test.x, test.y
        predictions = model(x_test).squeeze(-1)
        residuals = y_test - predictions
        r2 = 1 - (residuals**2).sum() / ((y_test - y_test.mean()) ** 2).sum()
    print(f"epoch {epoch} loss {loss.item():.3f} R2 {r2.item():.3f}")
assert residuals.shape == y_test.shape
