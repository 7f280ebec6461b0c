"""Two optimisers take turns; the part that is not stepped has gradients which its optimiser clears at its own turn."""

import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(8, 3), nn.Linear(3, 8)
opt_encoder = torch.optim.SGD(encoder.parameters(), lr=0.1)
opt_decoder = torch.optim.SGD(decoder.parameters(), lr=0.1)
x = torch.randn(30, 8)
losses = []
for step in range(20):
    active = opt_encoder if step % 2 else opt_decoder
    opt_encoder.zero_grad()
    opt_decoder.zero_grad()
    loss = (decoder(encoder(x)) - x).pow(2).mean()
    loss.backward()
    active.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
