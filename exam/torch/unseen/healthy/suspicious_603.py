import torch
from torch import nn


class CharLSTM(nn.Module):
    def __init__(self, size=12, width=24):
        super().__init__()
        self.embed = nn.Embedding(size, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.out = nn.Linear(width, size, bias=False)
        self.out.weight = self.embed.weight  # tied

    def forward(self, text, state):
        states, state = self.lstm(self.embed(text), state)
        return self.out(states), state


torch.manual_seed(0)
text = torch.arange(241).remainder(12).repeat(4, 1)
model = CharLSTM()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
losses = []
state = None
for start in range(0, 240, 20):
    window = text[:, start : start + 21]
    logits, state = model(window[:, :-1], state)
    state = tuple(s.detach() for s in state)
    loss = nn.functional.cross_entropy(logits.transpose(1, 2), window[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
