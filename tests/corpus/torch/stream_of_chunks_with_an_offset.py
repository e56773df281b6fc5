# program: SyncTensorsGraph
# cause: constant
# pattern: counter
# reason: the places of a chunk are a slice of the table at a Python number that counts up

import torch
import torch_xla
from torch import nn


class StreamingTagger(nn.Module):
    def __init__(self, features=8, width=16, longest=64, tags=5):
        super().__init__()
        self.lift = nn.Linear(features, width)
        self.places = nn.Parameter(torch.randn(longest, width) * 0.02)
        self.mix = nn.MultiheadAttention(width, 2, batch_first=True)
        self.tags = nn.Linear(width, tags)
        self.offset = 0

    def reset(self):
        self.offset = 0

    def forward(self, chunk):
        length = chunk.shape[1]
        places = self.places[self.offset:self.offset + length]  # <- cause
        self.offset += length
        x = self.lift(chunk) + places
        mixed, _ = self.mix(x, x, x, need_weights=False)
        return self.tags(x + mixed).argmax(-1)


@torch.no_grad()
def serve(model, stream, device):
    model.reset()
    answers = []
    for chunk in stream:
        tags = model(chunk.to(device))
        torch_xla.sync()  # <- call
        answers += tags[0].tolist()
    return answers


def main():
    torch.manual_seed(0)
    device = torch_xla.device()
    model = StreamingTagger().to(device).eval()
    torch_xla.sync()
    stream = torch.randn(1, 20, 8).split(4, dim=1)
    print(serve(model, stream, device))


main()
