import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 16, batch_first=True)
        self.fc = nn.Linear(16, 3)

    def forward(self, x):
        out, (h, c) = self.lstm(x)
        return self.fc(out[-1] if not self.lstm.batch_first else out[:, -1])


torch.manual_seed(0)
model = Classifier()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    sequences, labels = torch.randn(8, 20, 6), torch.randint(0, 3, (8,))
    loss = criterion(model(sequences), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
