import torch
import torch.nn.functional as F
from torch import nn


class Generator(nn.Module):
    def __init__(self, noise=6, length=5, vocabulary=11):
        super().__init__()
        self.length, self.vocabulary = length, vocabulary
        self.net = nn.Sequential(nn.Linear(noise, 32), nn.ReLU(), nn.Linear(32, length * vocabulary))

    def forward(self, z):
        logits = self.net(z).view(-1, self.length, self.vocabulary)
        return F.gumbel_softmax(logits, tau=1.0)


class Discriminator(nn.Module):
    def __init__(self, vocabulary=11):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, 8)
        self.rnn = nn.GRU(8, 12, batch_first=True)
        self.out = nn.Linear(12, 1)

    def forward(self, tokens):
        return self.out(self.rnn(tokens @ self.embed.weight)[1][-1])


torch.manual_seed(0)
generator, discriminator = Generator(), Discriminator().requires_grad_(False)
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
for step in range(3):
    fake = generator(torch.randn(8, 6))
    loss_g = F.binary_cross_entropy_with_logits(discriminator(fake), torch.ones(8, 1))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
assert all(p.grad is not None for p in generator.parameters())
