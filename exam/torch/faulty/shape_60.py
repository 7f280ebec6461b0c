# expect: GT117
# cause: softmax is asked along axis 2 of an array with two axes
# wrong: raises IndexError
# cure: torch.log_softmax(scores, dim=2) -> torch.log_softmax(scores, dim=1)
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(9, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, labels = torch.randn(13, 9), torch.randint(0, 4, (13,))


def negative_log_likelihood(scores, labels):
    log_p = torch.log_softmax(scores, dim=2)  # <- here
    return -log_p.gather(1, labels.unsqueeze(1)).mean()


loss = negative_log_likelihood(net(x), labels)
optimizer.zero_grad()
loss.backward()
optimizer.step()
