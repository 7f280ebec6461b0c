# expect: GT102 or GT101
# cause: the decoder has one output and the target three columns, so one number is compared with three
# wrong: forecast.shape != target.shape
# cure: nn.Linear(16, 1) -> nn.Linear(16, 3)
import torch
from torch import nn

torch.manual_seed(5)
series = torch.randn(20, 12, 2)
target = torch.randn(20, 3)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 16, batch_first=True)
        self.head = nn.Linear(16, 1)

    def forward(self, window):
        _, last = self.rnn(window)
        return self.head(last[-1])


model = Forecaster()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(3):
    forecast = model(series)
    loss = torch.mean(torch.abs(forecast - target))  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
