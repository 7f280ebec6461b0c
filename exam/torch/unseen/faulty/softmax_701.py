# expect: GT501
# cause: the attention over the words is normalised over the examples, and the words of each example are summed
# wrong: not torch.allclose(weights.sum(dim=1), torch.ones(7))
# cure: F.softmax(self.score(states).squeeze(-1), dim=0) -> F.softmax(self.score(states).squeeze(-1), dim=1)
import torch
import torch.nn.functional as F
from torch import nn


class AttentionPooling(nn.Module):
    def __init__(self, features=9, hidden=14):
        super().__init__()
        self.rnn = nn.GRU(features, hidden, batch_first=True)
        self.score = nn.Linear(hidden, 1)
        self.label = nn.Linear(hidden, 2)

    def forward(self, words):
        states, _ = self.rnn(words)
        weights = F.softmax(self.score(states).squeeze(-1), dim=0)  # <- here
        pooled = (weights.unsqueeze(-1) * states).sum(dim=1)  # <- here
        return self.label(pooled), weights


torch.manual_seed(0)
model = AttentionPooling()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    words, labels = torch.randn(7, 11, 9), torch.randint(0, 2, (7,))
    logits, weights = model(words)
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
