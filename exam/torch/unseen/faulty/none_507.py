# expect: GT201 or GT305 because GT207 or GT209
# cause: the levels are cast to integers before the loss, and integers have no gradient
# wrong: raises RuntimeError
# cure: (levels * 15).long() -> levels * 15
# cure: codes.float() - wanted -> codes - wanted
import torch
from torch import nn

torch.manual_seed(12)
signal = torch.rand(16, 20)
compressor = nn.Sequential(nn.Linear(20, 10), nn.Sigmoid())
optimizer = torch.optim.SGD(compressor.parameters(), lr=0.1)
wanted = torch.randint(0, 16, (16, 10)).float()


def quantised(batch):
    levels = compressor(batch)
    return (levels * 15).long()  # <- here


for _ in range(3):
    codes = quantised(signal)
    loss = (codes.float() - wanted).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
