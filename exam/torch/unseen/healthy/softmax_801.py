import torch
from torch import nn


class HierarchicalAttention(nn.Module):
    def __init__(self, words=40, width=10):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.score = nn.Linear(width, 1)
        self.out = nn.Linear(width, 3)

    def forward(self, tokens):
        h = self.embed(tokens)
        self.weights = torch.softmax(self.score(torch.tanh(h)), dim=1)
        sentence = torch.sum(self.weights * h, dim=1)
        return self.out(sentence)


torch.manual_seed(0)
model = HierarchicalAttention()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    loss = nn.functional.cross_entropy(model(torch.randint(0, 40, (9, 14))), torch.randint(0, 3, (9,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.allclose(model.weights.sum(dim=1), torch.ones(9, 1))
