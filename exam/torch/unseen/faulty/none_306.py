# expect: GT201 or GT305 because GT212
# cause: Embedding.from_pretrained freezes the table unless it is told not to
# wrong: raises RuntimeError
# cure: nn.Embedding.from_pretrained(vectors) -> nn.Embedding.from_pretrained(vectors, freeze=False)
import torch
from torch import nn


class Similarity(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors)  # <- here

    def forward(self, left, right):
        return nn.functional.cosine_similarity(self.words(left), self.words(right), dim=1)


torch.manual_seed(0)
model = Similarity(torch.randn(30, 10))
left, right, score = torch.randint(0, 30, (12,)), torch.randint(0, 30, (12,)), torch.rand(12)
loss = (model(left, right) - score).square().mean()
loss.backward()  # <- asked
