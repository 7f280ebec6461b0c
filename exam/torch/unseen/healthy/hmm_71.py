"""The forward algorithm of a hidden Markov model with parameters normalised by log_softmax over the right axes."""

import torch

torch.manual_seed(0)
seen = torch.randint(0, 4, (25,))
raw = {
    name: torch.randn(shape, requires_grad=True)
    for name, shape in {"start": (3,), "move": (3, 3), "emit": (3, 4)}.items()
}
opt = torch.optim.Adam(raw.values(), lr=0.1)
values = []
for _ in range(10):
    start, move, emit = (raw[k].log_softmax(dim=-1) for k in ("start", "move", "emit"))
    alpha = start + emit[:, seen[0]]
    for s in seen[1:]:
        alpha = torch.logsumexp(alpha.unsqueeze(1) + move, dim=0) + emit[:, s]
    nll = -alpha.logsumexp(0)
    opt.zero_grad()
    nll.backward()
    opt.step()
    values.append(nll.item())
assert values[-1] < values[0]
