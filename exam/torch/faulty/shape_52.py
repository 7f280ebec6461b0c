# expect: GT118
# cause: cross_entropy wants the classes on axis 1, the language model has them on the last axis
# wrong: raises RuntimeError
# cure: criterion(logits, batch[:, 1:]) -> criterion(logits.transpose(1, 2), batch[:, 1:])
import torch
from torch import nn


class CharRNN(nn.Module):
    def __init__(self, vocab, dim=10):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, tokens):
        h, _ = self.lstm(self.embed(tokens))
        return self.out(h)


torch.manual_seed(0)
batch = torch.randint(0, 12, (4, 8))
model = CharRNN(vocab=12)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters())
optimizer.zero_grad()
logits = model(batch[:, :-1])
loss = criterion(logits, batch[:, 1:])  # <- here
loss.backward()
optimizer.step()
