# expect: GT501 or GT404
# cause: the softmax of the attention scores runs over their last axis, which has one element, so all weights are 1
# wrong: bool((alpha == 1).all())
# cure: torch.softmax(energy, dim=-1) -> torch.softmax(energy, dim=1)
import torch
from torch import nn


class BahdanauDecoder(nn.Module):
    def __init__(self, hidden=12, vocabulary=15):
        super().__init__()
        self.w, self.u, self.v = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)
        self.cell = nn.GRUCell(hidden, hidden)
        self.out = nn.Linear(hidden, vocabulary)

    def attend(self, state, memory):
        energy = self.v(torch.tanh(self.w(state).unsqueeze(1) + self.u(memory)))
        alpha = torch.softmax(energy, dim=-1)  # <- here
        return (alpha * memory).sum(dim=1), alpha

    def forward(self, memory, steps):
        state, logits = memory.mean(dim=1), []
        for _ in range(steps):
            context, alpha = self.attend(state, memory)
            state = self.cell(context, state)
            logits.append(self.out(state))
        return torch.stack(logits, dim=1), alpha


torch.manual_seed(0)
decoder = BahdanauDecoder()
optimizer = torch.optim.Adam(decoder.parameters(), lr=1e-3)
for step in range(3):
    logits, alpha = decoder(torch.randn(6, 9, 12), 4)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), torch.randint(0, 15, (24,)))
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
