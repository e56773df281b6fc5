# cause: stable
# reason: the place is a tensor that the device counts, and the buffer has its full length from the start

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
WORDS, LENGTH, WIDTH = 20, 16, 8


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(WORDS, WIDTH)
        self.query = torch.nn.Linear(WIDTH, WIDTH)
        self.out = torch.nn.Linear(WIDTH, WORDS)

    def forward(self, tokens, place):
        x = self.embed(tokens)
        here = x.index_select(1, place)[:, 0]
        scores = (x @ self.query(here)[..., None])[..., 0] / WIDTH**0.5
        later = torch.arange(LENGTH, device=device) > place
        weights = scores.masked_fill(later, -1e4).softmax(dim=1)
        return self.out((weights[..., None] * x).sum(dim=1))


@torch.no_grad()
def generate(model, prompts, steps):
    tokens = torch.zeros(len(prompts), LENGTH, dtype=torch.long)
    tokens[:, :2] = prompts
    tokens = tokens.to(device)
    place = torch.tensor([1]).to(device)
    torch_xla.sync()
    for _ in range(steps):
        word = model(tokens, place).argmax(dim=1, keepdim=True)
        place.add_(1)
        tokens.index_copy_(1, place, word)
        torch_xla.sync()
    return tokens.cpu()


model = Decoder().to(device).eval()
torch_xla.sync()
for round_ in range(2):
    print(generate(model, torch.randint(WORDS, (3, 2)), 6)[0].tolist())
