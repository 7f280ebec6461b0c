import torch
from torch import nn

torch.manual_seed(0)
generator, discriminator = nn.Linear(3, 5), nn.Linear(5, 1)
with torch.no_grad():
    discriminator.weight.fill_(40.0)
    generator.bias.fill_(1.0)
score = discriminator(generator(torch.randn(12, 3)))
loss = nn.functional.logsigmoid(-score).mean()
loss.backward()
assert torch.isfinite(loss)
