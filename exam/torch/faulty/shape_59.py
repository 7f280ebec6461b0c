# expect: GT114
# cause: the decoder's linear layer makes 128 numbers, and 8 * 5 * 5 are needed
# wrong: raises RuntimeError
# cure: nn.Linear(4, 128) -> nn.Linear(4, 200)
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 128)  # <- here
        self.deconv = nn.ConvTranspose2d(8, 1, kernel_size=2, stride=2)

    def forward(self, z):
        h = torch.relu(self.fc(z))
        h = h.view(z.size(0), 8, 5, 5)  # <- here
        return torch.sigmoid(self.deconv(h))


torch.manual_seed(0)
decoder = Decoder()
target = torch.rand(6, 1, 10, 10)
loss = nn.functional.binary_cross_entropy(decoder(torch.randn(6, 4)), target)
loss.backward()
