# program: SyncTensorsGraph
# cause: shape
# pattern: unpadded
# advice: index_copy_

import torch
import torch_xla
from torch import nn

BEGIN, WORDS = 1, 30


class Captioner(nn.Module):
    """Words attend to the regions of a picture and to all words before them."""

    def __init__(self, width=16):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.regions = nn.Linear(8, width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.head = nn.Linear(width, WORDS)

    def begin(self, regions):
        return self.regions(regions)

    def next(self, word, memory):
        query = self.words(word)[:, None]
        memory = torch.cat([memory, query], dim=1)  # <- cause
        mixed, _ = self.attention(query, memory, memory, need_weights=False)
        return self.head(mixed[:, 0]).argmax(-1), memory


class Server:
    def __init__(self, device):
        self.device = device
        self.model = Captioner().to(device).eval()
        torch_xla.sync()

    @torch.no_grad()
    def describe(self, regions, longest):
        memory = self.model.begin(regions.to(self.device))
        word = torch.full((len(regions),), BEGIN).to(self.device)
        torch_xla.sync()
        caption = []
        for _ in range(longest):
            word, memory = self.model.next(word, memory)
            torch_xla.sync()  # <- call
            caption.append(word.cpu())
        return torch.stack(caption, 1).tolist()


torch.manual_seed(0)
server = Server(torch_xla.device())
print(server.describe(torch.randn(2, 5, 8), longest=6))
