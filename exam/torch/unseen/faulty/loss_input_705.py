# expect: GT509
# cause: CTCLoss takes logarithms of probabilities, and is given the raw outputs of the linear layer
# wrong: not torch.allclose(outputs.exp().sum(dim=-1), torch.ones(30, 4), atol=1e-3)
# cure: outputs = self.head(states) -> outputs = self.head(states).log_softmax(dim=-1)
import torch
from torch import nn


class Recogniser(nn.Module):
    def __init__(self, features=10, letters=6):
        super().__init__()
        self.rnn = nn.LSTM(features, 20, bidirectional=True)
        self.head = nn.Linear(40, letters + 1)

    def forward(self, frames):
        states, _ = self.rnn(frames)
        outputs = self.head(states)  # <- here
        return outputs


torch.manual_seed(0)
model = Recogniser()
ctc = nn.CTCLoss(blank=0)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    frames = torch.randn(30, 4, 10)
    transcript = torch.randint(1, 7, (4, 8))
    outputs = model(frames)
    loss = ctc(outputs, transcript, torch.full((4,), 30), torch.full((4,), 8))  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
