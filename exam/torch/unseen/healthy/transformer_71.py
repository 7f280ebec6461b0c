"""nn.TransformerEncoder with a causal mask and padding, next-token cross entropy over flattened logits."""

import torch
from torch import nn

torch.manual_seed(0)
vocabulary, width, length = 15, 16, 7
embed = nn.Embedding(vocabulary, width, padding_idx=0)
position = nn.Parameter(torch.zeros(length, width))
layer = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.1, batch_first=True)
encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
to_words = nn.Linear(width, vocabulary)
parts = nn.ModuleList([embed, encoder, to_words])
opt = torch.optim.AdamW([*parts.parameters(), position], lr=3e-3)
text = torch.randint(1, vocabulary, (6, length + 1))
causal = nn.Transformer.generate_square_subsequent_mask(length)
for step in range(4):
    h = encoder(embed(text[:, :-1]) + position, mask=causal, is_causal=True)
    logits = to_words(h)
    loss = nn.functional.cross_entropy(logits.reshape(-1, vocabulary), text[:, 1:].reshape(-1), ignore_index=0)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(parts.parameters(), 1.0)
    opt.step()
assert torch.isfinite(loss)
