# expect: GT514
# cause: the factors of users and items are all 0.1, so that the five factors stay equal: a model of rank one
# wrong: torch.allclose(users[:, 0], users[:, 1])
# cure: users = torch.full((12, 5), 0.1) -> users = 0.1 * torch.randn(12, 5)
import torch

torch.manual_seed(0)
ratings = torch.randint(1, 6, (12, 9)).float()
known = torch.rand(12, 9) < 0.7

users = torch.full((12, 5), 0.1)  # <- here
items = torch.full((9, 5), 0.1)  # <- here
users.requires_grad_()
items.requires_grad_()

optimizer = torch.optim.Adam([users, items], lr=0.05)
for epoch in range(20):
    predicted = users @ items.T  # <- asked
    loss = ((predicted - ratings)[known] ** 2).mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
