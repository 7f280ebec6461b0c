# expect: GT116 or GT110 or GT111
# cause: the GRU takes the time first unless it is told batch_first, so that the initial state has the wrong batch
# wrong: raises RuntimeError
# cure: nn.GRU(3, 10)  # <- here -> nn.GRU(3, 10, batch_first=True)
import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 10)  # <- here
        self.out = nn.Linear(10, 1)

    def forward(self, series):
        state = torch.zeros(1, series.shape[0], 10)
        outputs, _ = self.gru(series, state)  # <- here
        return self.out(outputs[:, -1])


torch.manual_seed(0)
model = Forecaster()
series, target = torch.randn(7, 15, 3), torch.randn(7, 1)
loss = nn.functional.mse_loss(model(series), target)  # <- asked
loss.backward()
