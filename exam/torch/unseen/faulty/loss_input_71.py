# expect: GT509
# cause: the classifier's forward ends in log_softmax for nll_loss, and label smoothing was switched on with cross_entropy, after exp
# wrong: float(loss) > 0.5
# cure: logp.exp() -> logp
import torch
import torch.nn.functional as F
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 8)
        self.out = nn.Linear(8, 3)

    def forward(self, tokens):
        return F.log_softmax(self.out(self.emb(tokens)), dim=-1)


torch.manual_seed(0)
tokens = torch.arange(20)
tags = tokens % 3
tagger = Tagger()
opt = torch.optim.Adam(tagger.parameters(), lr=0.1)
for epoch in range(25):
    logp = tagger(tokens)
    loss = F.cross_entropy(logp.exp(), tags, label_smoothing=0.1)  # <- here
    opt.zero_grad()
    loss.backward()
    opt.step()
