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
    scores = logits.transpose(1, 2)
    loss = criterion(scores, tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.equal(scores, logits.transpose(1, 2))
