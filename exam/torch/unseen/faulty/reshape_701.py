# expect: GT510
# cause: the logits (batch, time, classes) are brought to (batch, classes, time) by view, which mixes them
# wrong: not torch.equal(scores, logits.transpose(1, 2))
# cure: logits.view(logits.size(0), logits.size(2), logits.size(1)) -> logits.transpose(1, 2)
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, words=50, tags=4):
        super().__init__()
        self.embed = nn.Embedding(words, 12)
        self.lstm = nn.LSTM(12, 16, batch_first=True, bidirectional=True)
        self.out = nn.Linear(32, tags)

    def forward(self, sentence):
        return self.out(self.lstm(self.embed(sentence))[0])


torch.manual_seed(0)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    sentence, tags = torch.randint(0, 50, (6, 10)), torch.randint(0, 4, (6, 10))
    logits = model(sentence)
    scores = logits.view(logits.size(0), logits.size(2), logits.size(1))  # <- here
    loss = criterion(scores, tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
