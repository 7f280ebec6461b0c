# expect: GT509
# cause: NLLLoss takes log probabilities and is given logits
# wrong: bool(loss < 0)
# cure: nn.NLLLoss()(decoder(state) -> nn.CrossEntropyLoss()(decoder(state)
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
        loss = loss + nn.NLLLoss()(decoder(state), word)  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
