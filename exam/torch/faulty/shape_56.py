# expect: GT115
# cause: the index of the special token, 100, is one past the end of an embedding with 100 rows
# wrong: raises IndexError
# cure: nn.Embedding(100, 8) -> nn.Embedding(101, 8)
import torch
from torch import nn

torch.manual_seed(0)
VOCAB, END = 100, 100
sentences = torch.randint(0, VOCAB, (5, 6))
sentences = torch.cat([sentences, torch.full((5, 1), END)], dim=1)
labels = torch.tensor([0, 1, 1, 0, 1])

embedding = nn.Embedding(100, 8)  # <- here
classifier = nn.Linear(8, 2)
optimizer = torch.optim.Adam([*embedding.parameters(), *classifier.parameters()])
for epoch in range(2):
    pooled = embedding(sentences).mean(dim=1)  # <- here
    loss = nn.functional.cross_entropy(classifier(pooled), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
