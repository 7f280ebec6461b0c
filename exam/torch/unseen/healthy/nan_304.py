import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.LSTM(5, 12)
head = nn.Linear(12, 7)
frames = torch.randn(6, 2, 5)
targets = torch.randint(1, 7, (2, 9))
input_lengths = torch.tensor([6, 6])
target_lengths = torch.tensor([3, 4])
targets[1] = torch.tensor([1, 2, 3, 4, 5, 6, 1, 2, 3])
output, _ = encoder(frames)
log_probs = head(output).log_softmax(dim=2)
loss = nn.CTCLoss()(log_probs, targets, input_lengths, target_lengths)
loss.backward()
assert torch.isfinite(loss)
