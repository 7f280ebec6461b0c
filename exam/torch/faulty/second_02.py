# expect: GT308
# cause: the hidden state is carried from batch to batch with its whole history
# wrong: raises RuntimeError
# cure: output, hidden = rnn(chunk, hidden) -> output, hidden = rnn(chunk, None if hidden is None else tuple(h.detach() for h in hidden))
import torch
from torch import nn

torch.manual_seed(0)
series = torch.sin(torch.linspace(0, 12, 81)).reshape(1, 81, 1)
rnn = nn.LSTM(1, 8, batch_first=True)
readout = nn.Linear(8, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *readout.parameters()], lr=1e-2)

hidden = None
for start in range(0, 80, 20):
    chunk = series[:, start : start + 20]
    target = series[:, start + 1 : start + 21]
    optimizer.zero_grad()
    output, hidden = rnn(chunk, hidden)  # <- here
    loss = nn.functional.mse_loss(readout(output), target)
    loss.backward()  # <- asked
    optimizer.step()
