# expect: GT513
# cause: the optimiser is given the decoder's parameters only; the encoder gets gradients and never moves
# wrong: torch.equal(encoder[0].weight, initial)
# cure: torch.optim.Adam(decoder.parameters(), lr=1e-2) -> torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(20, 8), nn.Tanh(), nn.Linear(8, 2))
decoder = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 20))
initial = encoder[0].weight.detach().clone()
optimizer = torch.optim.Adam(decoder.parameters(), lr=1e-2)  # <- here
data = torch.randn(64, 20)


def train_epoch():
    for batch in data.split(16):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(decoder(encoder(batch)), batch)
        loss.backward()  # <- asked
        optimizer.step()  # <- asked


for epoch in range(3):
    train_epoch()
