import torch
from torch import nn


class Transformer(nn.Module):
    def __init__(self, vocabulary=20, width=16, heads=4, length=12):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width, padding_idx=0), nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, heads, 32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, text):
        places = torch.arange(text.shape[1])
        causal = torch.full((text.shape[1],) * 2, float("-inf")).triu(1)
        h = self.tokens(text) + self.places(places)
        h = self.encoder(h, mask=causal, src_key_padding_mask=torch.zeros(text.shape).masked_fill(text == 0, -1e9))
        return self.out(h)


torch.manual_seed(0)
text = torch.randint(1, 20, (6, 13))
text[2, 8:] = 0
text[4, 5:] = 0
model = Transformer()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 4))
for step in range(4):
    logits = model(text[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten(), ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    warmup.step()
assert loss.isfinite()
