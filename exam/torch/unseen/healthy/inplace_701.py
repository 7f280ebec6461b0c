import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocabulary=40, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, 2)

    def forward(self, tokens):
        padding = tokens == 0
        q, k, v = self.qkv(self.embed(tokens)).chunk(3, dim=-1)
        attn = torch.softmax(q @ k.transpose(1, 2) / 4.0, dim=-1)
        attn = attn.masked_fill(padding[:, None, :], 0.0)
        return self.out((attn @ v).mean(dim=1))


torch.manual_seed(0)
tokens = torch.randint(1, 40, (8, 12))
tokens[:4, 9:] = 0
labels = torch.randint(0, 2, (8,))
net = Encoder()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(3):
    loss = nn.functional.cross_entropy(net(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
