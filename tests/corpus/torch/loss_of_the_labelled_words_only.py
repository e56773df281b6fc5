# program: SyncTensorsGraph
# cause: shape
# advice: torch.where
# reason: the words without a label are left out by a mask, and each batch has another number of them

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
IGNORED = -100


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(40, 10)
        self.out = torch.nn.Linear(10, 4)

    def forward(self, tokens):
        return self.out(torch.relu(self.embed(tokens)))


def tagging_loss(logits, labels):
    chosen = labels != IGNORED
    logits = logits[chosen]  # <- cause, cut 3
    labels = labels.masked_fill(~chosen, 0).flatten()
    return torch.logsumexp(logits, dim=1).mean() + 0.01 * labels.float().mean()


def sentences():
    for known in (20, 13, 17):
        labels = torch.randint(4, (4, 8)).flatten()
        labels[torch.randperm(32)[known:]] = IGNORED
        yield torch.randint(40, (4, 8)), labels.view(4, 8)


def main():
    model = Tagger().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch_xla.sync()
    for tokens, labels in sentences():
        optimizer.zero_grad()
        loss = tagging_loss(model(tokens.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(loss.item())


main()
