# expect: GT308
# cause: the state of the LSTM is carried to the next batch with its graph, which the backward pass has freed
# wrong: raises RuntimeError
# cure: self.state = state -> self.state = tuple(s.detach() for s in state)
import torch
from torch import nn


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(2, 5, batch_first=True)
        self.head = nn.Linear(5, 1)
        self.state = None

    def forward(self, chunk):
        out, state = self.lstm(chunk, self.state)
        self.state = state  # <- here
        return self.head(out)


torch.manual_seed(48)
model = Stateful()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
signal = torch.randn(3, 24, 2)
for chunk in signal.split(8, dim=1):
    loss = (model(chunk).squeeze(-1) - chunk[..., 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
