# expect: GT309
# cause: the discriminator's weights are stepped between the generator's forward and backward pass
# wrong: raises RuntimeError
# cure: d_loss.backward(retain_graph=True)\n    d_optimizer.step() -> g_optimizer.zero_grad()\n    g_loss.backward(retain_graph=True)\n    g_optimizer.step()\n    d_optimizer.zero_grad()
# cure: g_optimizer.zero_grad()\n    g_loss.backward()  # <- asked\n    g_optimizer.step() -> d_loss = discriminate(real, fake.detach())\n    d_loss.backward()\n    d_optimizer.step()
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
    return F.binary_cross_entropy_with_logits(answer, torch.ones_like(answer))  # <- here


for step in range(3):
    real = torch.randn(16, 2) + 3
    fake = generator(torch.randn(16, 3))
    d_loss = discriminate(real, fake)
    g_loss = fool(fake)  # <- here
    d_optimizer.zero_grad()
    d_loss.backward(retain_graph=True)
    d_optimizer.step()  # <- here
    g_optimizer.zero_grad()
    g_loss.backward()  # <- asked
    g_optimizer.step()
