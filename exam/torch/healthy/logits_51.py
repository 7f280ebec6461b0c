"""log_softmax with nll_loss, a CTC loss on log-probabilities, and BCELoss after a sigmoid: each gets what it takes."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
rnn, classes = nn.GRU(4, 8), nn.Linear(8, 6)
speech = torch.randn(12, 3, 4)
text, lengths = torch.randint(1, 6, (3, 4)), torch.tensor([4, 3, 4])
optimizer = torch.optim.Adam([*rnn.parameters(), *classes.parameters()], lr=1e-2)
for step in range(3):
    h, _ = rnn(speech)
    log_probs = F.log_softmax(classes(h), dim=-1)
    ctc = F.ctc_loss(log_probs, text, torch.full((3,), 12), lengths)
    frame = F.nll_loss(log_probs.reshape(-1, 6), torch.randint(0, 6, (36,)))
    voiced = nn.BCELoss()(torch.sigmoid(h.mean(-1)), torch.ones(12, 3))
    loss = ctc + 0.1 * frame + 0.1 * voiced
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.isfinite(loss)
