"""A language model with an LSTM: packed sequences, truncated backpropagation through time, tied weights, clipping."""

import torch
from measure import Steps
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch_measure import finish


class LanguageModel(nn.Module):
    def __init__(self, words=20, width=24):
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, num_layers=2, dropout=0.1, batch_first=True)
        self.head = nn.Linear(width, words)
        self.head.weight = self.embedding.weight

    def forward(self, tokens, lengths, state=None):
        packed = pack_padded_sequence(self.embedding(tokens), lengths, batch_first=True, enforce_sorted=False)
        out, state = self.lstm(packed, state)
        return self.head(pad_packed_sequence(out, batch_first=True, total_length=tokens.shape[1])[0]), state


torch.manual_seed(0)
tokens = torch.randint(1, 20, (8, 33))
lengths = torch.full((8,), 8)
model = LanguageModel()
optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss(ignore_index=0)
steps = Steps()
for epoch in range(80):
    state = None
    for start in range(0, 32, 8):
        with steps:
            inputs, targets = tokens[:, start : start + 8], tokens[:, start + 1 : start + 9]
            scores, state = model(inputs, lengths, state)
            state = tuple(s.detach() for s in state)
            loss = criterion(scores.reshape(-1, 20), targets.reshape(-1))
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimiser.step()
    if epoch % 20 == 0:
        print(f"epoch {epoch}: perplexity {loss.exp().item():.4f}")
finish(steps, model)
