import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 10, batch_first=True)
        self.out = nn.Linear(10, 1)
        self.hidden = None

    def forward(self, x):
        states, hidden = self.lstm(x, self.hidden)
        self.hidden = tuple(h.detach() for h in hidden)
        return self.out(states)


torch.manual_seed(0)
wave = torch.sin(torch.linspace(0, 30, 201)).unsqueeze(-1)
windows = [(wave[i : i + 20], wave[i + 1 : i + 21]) for i in range(0, 160, 20)]
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for x, y in windows:
    loss = nn.functional.mse_loss(model(x[None]), y[None])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
