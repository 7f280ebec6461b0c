"""A language model with CrossEntropyLoss on logits, and NLLLoss on log probabilities."""

import torch
from torch import nn

torch.manual_seed(53)
vocabulary = 9
embed, rnn, decoder = nn.Embedding(vocabulary, 6), nn.GRU(6, 10), nn.Linear(10, vocabulary)
parameters = [p for module in (embed, rnn, decoder) for p in module.parameters()]
optimizer = torch.optim.Adam(parameters, lr=0.1)
sentence = torch.randint(0, vocabulary, (14, 2))
for epoch in range(12):
    states, _ = rnn(embed(sentence[:-1]))
    loss = 0.0
    for state, word in zip(states, sentence[1:]):
        loss = loss + nn.CrossEntropyLoss()(decoder(state), word)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
again = nn.NLLLoss()(torch.log_softmax(decoder(states[0]), -1), sentence[1])
assert again >= 0
