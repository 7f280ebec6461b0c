# expect: GT308
# cause: two losses of the same forward pass are walked back one after the other
# wrong: raises RuntimeError
# cure: loss_class.backward()  # <- here -> loss_class.backward(retain_graph=True)
import torch
import torch.nn.functional as F
from torch import nn


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 16), nn.ReLU())
        self.classes = nn.Linear(16, 3)
        self.box = nn.Linear(16, 4)

    def forward(self, x):
        h = self.trunk(x)
        return self.classes(h), self.box(h)


torch.manual_seed(0)
net = TwoHeads()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, label, corners = torch.randn(6, 10), torch.randint(0, 3, (6,)), torch.rand(6, 4)
logits, boxes = net(x)
loss_class = F.cross_entropy(logits, label)
loss_box = F.smooth_l1_loss(boxes, corners)
optimizer.zero_grad()
loss_class.backward()  # <- here
loss_box.backward()  # <- here
optimizer.step()
