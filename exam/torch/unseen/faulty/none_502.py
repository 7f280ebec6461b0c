# expect: GT201 or GT512 because GT208
# cause: the latent code is detached before the decoder, so no gradient reaches the encoder
# wrong: all(p.grad is None for p in encoder.parameters())
# cure: decoder(code.detach()) -> decoder(code)
import torch
from torch import nn

torch.manual_seed(7)
data = torch.rand(32, 12)
encoder = nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3))
decoder = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 12))
optimizer = torch.optim.Adam(list(encoder.parameters()) + list(decoder.parameters()), lr=1e-3)


def reconstruct(batch):
    code = encoder(batch)
    return decoder(code.detach())  # <- here


for epoch in range(4):
    for batch in data.split(8):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(reconstruct(batch), batch)
        loss.backward()  # <- asked
        optimizer.step()  # <- asked
