# expect: GT308
# cause: the hidden state of the last batch is used in the next one without detach, whose graph is already freed
# wrong: raises RuntimeError
# cure: out, hidden = rnn(x, hidden) -> out, hidden = rnn(x, hidden if hidden is None else hidden.detach())
import torch
from torch import nn

torch.manual_seed(0)
rnn, head = nn.GRU(3, 6, batch_first=True), nn.Linear(6, 1)
opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=0.01)
series = torch.randn(4, 30, 3)
hidden = None
for start in range(0, 30, 10):
    x = series[:, start : start + 10]
    out, hidden = rnn(x, hidden)  # <- here
    loss = head(out).pow(2).mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
