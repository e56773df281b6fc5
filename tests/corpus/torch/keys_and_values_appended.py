# program: SyncTensorsGraph
# cause: shape
# pattern: unpadded
# reason: the cache of a decoder grows by one token in each step

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(1)


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, past):
        query, key, value = self.project(x).chunk(3, -1)
        if past is not None:
            key = torch.cat([past[0], key], 1)  # <- cause
            value = torch.cat([past[1], value], 1)
        weights = torch.softmax(query @ key.transpose(1, 2) / key.shape[-1] ** 0.5, -1)
        return x + self.out(weights @ value), (key, value)


class Decoder(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.attention = Attention(width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, token, past):
        x, past = self.attention(self.embed(token), past)
        return self.head(x[:, -1]).argmax(-1, keepdim=True), past


@torch.no_grad()
def generate(model, prompt, count):
    token, past, tokens = prompt.to(device), None, []
    for _ in range(count):
        token, past = model(token, past)
        torch_xla.sync()  # <- call
        tokens.append(token.cpu())
    return torch.cat(tokens, 1)


model = Decoder(17, 8).to(device).eval()
torch_xla.sync()
print(generate(model, torch.tensor([[3], [5]]), 7))
