import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 10, batch_first=True)
        self.out = nn.Linear(10, 1)

    def forward(self, series):
        state = torch.zeros(1, series.shape[0], 10)
        outputs, _ = self.gru(series, state)
        return self.out(outputs[:, -1])


torch.manual_seed(0)
model = Forecaster()
series, target = torch.randn(7, 15, 3), torch.randn(7, 1)
loss = nn.functional.mse_loss(model(series), target)
loss.backward()
assert torch.isfinite(loss)
