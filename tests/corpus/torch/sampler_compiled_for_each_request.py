# program: sample
# cause: size

import dataclasses

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


@dataclasses.dataclass
class Request:
    prompt: list
    candidates: int
    temperature: float = 0.8


class LanguageModel(nn.Module):
    def __init__(self, words=50, width=16):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.mix = nn.Linear(width, width)

    def forward(self, ids):
        hidden = self.mix(self.words(ids).mean(1)).tanh()
        return hidden @ self.words.weight.T


def make_sampler(model, request):
    def sample(ids, draw):
        logits = model(ids) / request.temperature
        best = logits.topk(request.candidates)  # <- cause
        shares = best.values.softmax(-1).cumsum(-1)
        chosen = (shares[:, :-1] < draw).sum(-1, keepdim=True)
        return best.indices.gather(1, chosen)

    return torch_xla.compile(sample)


@torch.no_grad()
def answer(model, request):
    sampler = make_sampler(model, request)
    ids = torch.tensor([request.prompt]).to(device)
    draw = torch.rand(1, 1).to(device)
    return sampler(ids, draw).item()  # <- call


model = LanguageModel().to(device).eval()
torch_xla.sync()
for request in (Request([1, 2, 3], 4), Request([4, 9, 9], 4), Request([7, 5, 6], 8)):
    print(answer(model, request))
