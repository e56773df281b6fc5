import torch
import torch.nn.functional as F
import torch_xla
from torch import nn
from recipe import Recipe


class Tabular(nn.Module):
    def __init__(self, recipe):
        super().__init__()
        self.norm = nn.LayerNorm(recipe.inputs)
        self.hidden = nn.Linear(recipe.inputs, recipe.hidden)
        self.head = nn.Linear(recipe.hidden, recipe.classes)

    def forward(self, rows):
        return self.head(self.hidden(self.norm(rows)).relu())


def batches(recipe):
    for _ in range(recipe.steps):
        yield torch.randn(8, recipe.inputs), torch.randint(recipe.classes, (8,))


def train(recipe, device):
    model = Tabular(recipe).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=recipe.rate)
    torch_xla.sync()
    for rows, labels in batches(recipe):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(rows.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    return loss.item()


torch.manual_seed(0)
print(train(Recipe(), torch_xla.device()))
