# expect: GT201 or GT202 or GT205
# cause: the gradient of a computed activation is read, which is kept only after retain_grad
# wrong: raises TypeError
# cure: self.activation = torch.relu(self.conv(image)) -> self.activation = torch.relu(self.conv(image))\n        self.activation.retain_grad()
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.head = nn.Linear(4, 3)

    def forward(self, image):
        self.activation = torch.relu(self.conv(image))  # <- here
        return self.head(self.activation.mean(dim=(2, 3)))


torch.manual_seed(0)
model = Classifier()
image = torch.rand(1, 1, 8, 8)
score = model(image)[0].max()
score.backward()  # <- asked
weights = torch.mean(model.activation.grad, dim=(2, 3), keepdim=True)  # <- here
heat = torch.relu((weights * model.activation).sum(dim=1))
