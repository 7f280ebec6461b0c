# expect: GT116 or GT111 or GT110
# cause: the LSTM was made for 5 features and gets 8
# wrong: raises RuntimeError
# cure: input_size=5 -> input_size=8
import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, input_size, hidden_size=12):
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, batch_first=True)
        self.head = nn.Linear(hidden_size, 1)

    def forward(self, x):
        out, _ = self.lstm(x)  # <- here
        return self.head(out[:, -1, :])


torch.manual_seed(0)
sensors = torch.randn(6, 15, 8)
target = torch.randn(6, 1)
model = Forecaster(input_size=5)  # <- here
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss = nn.functional.mse_loss(model(sensors), target)
optimizer.zero_grad()
loss.backward()
optimizer.step()
