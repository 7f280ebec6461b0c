# expect: GT201 because GT209 or GT207
# cause: the code word is looked up by an argmax, which gives nothing back to the encoder
# wrong: encoder.weight.grad is None
# cure: codebook(scores.argmax(dim=-1)) -> torch.softmax(scores, dim=-1) @ codebook.weight
import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Linear(10, 16)
codebook = nn.Embedding(16, 4)
decoder = nn.Linear(4, 10)
parts = nn.ModuleDict({"encoder": encoder, "codebook": codebook, "decoder": decoder})
optimizer = torch.optim.Adam(parts.parameters(), lr=1e-2)
data = torch.randn(32, 10)


def reconstruct(x):
    scores = encoder(x)
    code = codebook(scores.argmax(dim=-1))  # <- here
    return decoder(code)


for step in range(4):
    loss = (reconstruct(data) - data).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
