# expect: GT201 or GT203 or GT204 or GT202 or GT305
# cause: the interpolated samples of the gradient penalty were never told to require a gradient
# wrong: raises RuntimeError
# cure: alpha * real + (1 - alpha) * fake -> (alpha * real + (1 - alpha) * fake).requires_grad_(True)
import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def forward(self, x):
        return self.main(x)


def gradient_penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1)
    mixed = alpha * real + (1 - alpha) * fake  # <- here
    scores = critic(mixed)
    grads = torch.autograd.grad(  # <- asked
        outputs=scores, inputs=mixed, grad_outputs=torch.ones_like(scores), create_graph=True, retain_graph=True
    )[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


torch.manual_seed(0)
generator, critic = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4)), Critic()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.0, 0.9))
for step in range(3):
    real = torch.randn(12, 4) + 2
    fake = generator(torch.randn(12, 3)).detach()
    loss = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(critic, real, fake)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
