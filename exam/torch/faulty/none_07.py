# expect: GT201 because GT208
# cause: the encoder's output is detached before the decoder, so the encoder never trains
# wrong: all(p.grad is None for p in autoencoder.encoder.parameters())
# cure: self.encoder(x).detach() -> self.encoder(x)
import torch
from torch import nn


class AutoEncoder(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 6), nn.ReLU(), nn.Linear(6, width))
        self.decoder = nn.Sequential(nn.Linear(width, 6), nn.ReLU(), nn.Linear(6, 10))

    def forward(self, x):
        code = self.encoder(x).detach()  # <- here
        return self.decoder(code), code


torch.manual_seed(0)
autoencoder = AutoEncoder()
optimizer = torch.optim.Adam(autoencoder.parameters(), lr=1e-2)
data = torch.randn(50, 10)
for epoch in range(5):
    reconstruction, code = autoencoder(data)
    loss = (reconstruction - data).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
