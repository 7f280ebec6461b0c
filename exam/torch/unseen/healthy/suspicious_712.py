"""The same block is applied three times by an nn.ModuleList of one module, as ALBERT shares its layers."""

import torch
from torch import nn


class Shared(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        block = nn.TransformerEncoderLayer(width, 2, 16, dropout=0.0, batch_first=True)
        self.blocks = nn.ModuleList([block] * 3)
        self.embed = nn.Embedding(20, width)
        self.out = nn.Linear(width, 20, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, tokens):
        x = self.embed(tokens)
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        for block in self.blocks:
            x = block(x, src_mask=mask, is_causal=True)
        return self.out(x)


torch.manual_seed(0)
model = Shared()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    tokens = torch.randint(0, 20, (4, 9))
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, 20), tokens[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model.out.weight is model.embed.weight
