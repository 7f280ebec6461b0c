# expect: GT509
# cause: nll_loss takes logarithms of probabilities and is given the logits themselves
# wrong: bool(loss < 1)
# cure: return self.project(states) -> return self.project(states).log_softmax(dim=-1)
import torch
import torch.nn.functional as F
from torch import nn


class CharacterModel(nn.Module):
    def __init__(self, characters=15, width=20):
        super().__init__()
        self.embed = nn.Embedding(characters, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.project = nn.Linear(width, characters)

    def forward(self, text):
        states, _ = self.rnn(self.embed(text))
        return self.project(states)


torch.manual_seed(0)
text = torch.randint(0, 15, (6, 25))
model = CharacterModel()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(4):
    out = model(text[:, :-1])
    loss = F.nll_loss(out.reshape(-1, 15), text[:, 1:].reshape(-1))  # <- here
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
