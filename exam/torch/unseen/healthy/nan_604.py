import torch
from torch import nn


def pad(sequences, width):
    lengths = torch.tensor([len(s) for s in sequences])
    out = torch.zeros(len(sequences), int(lengths.max()), width)
    for i, s in enumerate(sequences):
        out[i, : len(s)] = s
    return out, lengths


class Pool(nn.Module):
    """Attention pooling over the words of a sentence."""

    def __init__(self, width):
        super().__init__()
        self.score, self.out = nn.Linear(width, 1), nn.Linear(width, 1)

    def forward(self, words, lengths):
        outside = torch.arange(words.shape[1]) >= lengths[:, None]
        scores = self.score(words).squeeze(-1).masked_fill(outside, -1e9)
        attention = torch.softmax(scores, dim=-1)
        return self.out((attention.unsqueeze(-1) * words).sum(dim=1)).squeeze(-1)


torch.manual_seed(0)
model = Pool(5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    words, lengths = pad([torch.randn(n, 5) for n in (4, 2, 0, 7)], 5)
    loss = nn.functional.mse_loss(model(words, lengths), torch.ones(4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (bool(loss.isnan()))
