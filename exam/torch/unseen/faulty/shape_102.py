# expect: GT314 or GT116 or GT311
# cause: an LSTM returns its outputs and its state as a tuple, which goes into the linear layer whole
# wrong: raises TypeError
# cure: out = self.rnn(x) -> out, _ = self.rnn(x)
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(5, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        out = self.rnn(x)  # <- here
        return self.head(out)  # <- here


torch.manual_seed(0)
model = Tagger()
loss = model(torch.randn(4, 7, 5)).square().mean()
loss.backward()
