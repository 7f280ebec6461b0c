# expect: GT509
# cause: the CTC loss takes logarithms of probabilities and is given the scores of the last layer
# wrong: not torch.allclose(loss, nn.functional.ctc_loss(scores.log_softmax(2), letters, torch.full((3,), 14), torch.full((3,), 4)))
# cure: scores = head(output)  # <- here -> scores = head(output).log_softmax(dim=2)
import torch
from torch import nn

torch.manual_seed(0)
encoder, head = nn.GRU(6, 12), nn.Linear(12, 5)
frames, letters = torch.randn(14, 3, 6), torch.randint(1, 5, (3, 4))
output, _ = encoder(frames)
scores = head(output)  # <- here
loss = nn.functional.ctc_loss(scores, letters, torch.full((3,), 14), torch.full((3,), 4))  # <- here
loss.backward()
