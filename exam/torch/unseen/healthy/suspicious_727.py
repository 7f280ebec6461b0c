"""Two networks, one optimiser of both, and a stage in which only one loss is used: the other has no gradient then."""

import itertools

import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder, classifier = nn.Linear(8, 4), nn.Linear(4, 8), nn.Linear(4, 3)
optimizer = torch.optim.Adam(
    itertools.chain(encoder.parameters(), decoder.parameters(), classifier.parameters()), lr=1e-3
)
for step in range(8):
    x, y = torch.randn(10, 8), torch.randint(0, 3, (10,))
    z = torch.relu(encoder(x))
    loss = nn.functional.mse_loss(decoder(z), x)
    if step >= 3:
        loss = loss + 0.5 * nn.functional.cross_entropy(classifier(z), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert classifier.weight.grad is not None
