import torch
import torch_xla
from torch.nn.functional import cross_entropy


def train_epoch(model, optimizer, loader, device):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        cross_entropy(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
        torch_xla.sync()


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    right = torch.zeros(1, device=device)
    for x, y in loader:
        logits = model(x.to(device))  # <- cause
        right += (logits.argmax(1) == y.to(device)).sum()
        torch_xla.sync()  # <- call
    return right.item() / len(loader.dataset)
