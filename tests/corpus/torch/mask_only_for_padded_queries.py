# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: bool[4,10]
# advice: same keys | ones
# reason: the tokenizer makes a mask only if a query of the batch is short

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
LENGTH = 10


class Ranker(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(50, 12)
        self.score = torch.nn.Linear(12, 1)

    def forward(self, tokens, mask=None):
        x = self.embed(tokens)
        weights = self.score(x)[..., 0]
        if mask is not None:
            weights = weights.masked_fill(mask, -1e4)
        return (weights.softmax(dim=1)[..., None] * x).sum(dim=1)


def tokenize(lengths):
    tokens = torch.randint(2, 50, (len(lengths), LENGTH))
    batch = {"tokens": tokens}
    if min(lengths) < LENGTH:
        batch["mask"] = torch.arange(LENGTH) >= torch.tensor(lengths)[:, None]
    return batch


class Service:
    def __init__(self):
        self.model = Ranker().to(device).eval()
        torch_xla.sync()

    @torch.no_grad()
    def encode(self, lengths):
        batch = {name: value.to(device) for name, value in tokenize(lengths).items()}  # <- cause
        result = self.model(**batch)
        torch_xla.sync()  # <- call
        return result.cpu()


service = Service()
for lengths in ((10, 10, 10, 10), (10, 10, 10, 10), (4, 10, 7, 10)):
    print(service.encode(lengths).norm())
