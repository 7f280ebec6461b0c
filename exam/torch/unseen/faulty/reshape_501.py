# expect: GT114
# cause: 96 features are viewed as 4 x 4 x 8 = 128 values for each example
# wrong: raises RuntimeError
# cure: .view(-1, 8, 4, 4) -> .view(-1, 6, 4, 4)
# cure: nn.ConvTranspose2d(8, 1, 2, stride=2) -> nn.ConvTranspose2d(6, 1, 2, stride=2)
import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.grow = nn.Linear(5, 96)
        self.up = nn.ConvTranspose2d(8, 1, 2, stride=2)

    def forward(self, z):
        maps = torch.relu(self.grow(z)).view(-1, 8, 4, 4)  # <- here
        return torch.tanh(self.up(maps))


torch.manual_seed(38)
generator = Generator()
critic = nn.Sequential(nn.Flatten(), nn.Linear(64, 1)).requires_grad_(False)
optimizer = torch.optim.Adam(generator.parameters(), lr=1e-4)
for _ in range(2):
    images = generator(torch.randn(7, 5))
    loss = -critic(images).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
