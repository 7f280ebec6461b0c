# expect: GT118
# cause: the LSTM takes the time first, so that its last step is that of the last example, 20 rows for 8 labels
# wrong: raises ValueError
# cure: nn.LSTM(6, 16) -> nn.LSTM(6, 16, batch_first=True)
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 16)  # <- here
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
    loss = criterion(model(sequences), labels)  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
