import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 2))
discriminator = nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
g_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-4)
d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=2e-4)


def discriminate(real, fake):
    yes, no = discriminator(real), discriminator(fake)
    return F.binary_cross_entropy_with_logits(yes, torch.ones_like(yes)) + F.binary_cross_entropy_with_logits(
        no, torch.zeros_like(no)
    )


def fool(fake):
    answer = discriminator(fake)
    return F.binary_cross_entropy_with_logits(answer, torch.ones_like(answer))


for step in range(3):
    real = torch.randn(16, 2) + 3
    fake = generator(torch.randn(16, 3))
    d_loss = discriminate(real, fake)
    g_loss = fool(fake)
    d_optimizer.zero_grad()
    g_optimizer.zero_grad()
    g_loss.backward(retain_graph=True)
    g_optimizer.step()
    d_optimizer.zero_grad()
    d_loss = discriminate(real, fake.detach())
    d_loss.backward()
    d_optimizer.step()
assert d_loss.isfinite()
