# program: SyncTensorsGraph
# cause: shape
# pattern: unpadded
# advice: Pad
# reason: each batch of sentences is padded to its own longest one

import torch
import torch_xla
from torch.nn.utils.rnn import pad_sequence

device = torch_xla.device()
torch.manual_seed(0)
WORDS = 30


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(WORDS, 8)
        self.mix = torch.nn.Conv1d(8, 8, 3, padding=1)
        self.out = torch.nn.Linear(8, WORDS)

    def forward(self, tokens):
        x = self.embed(tokens).transpose(1, 2)
        return self.out(torch.tanh(self.mix(x)).transpose(1, 2))


def collate(sentences):
    return pad_sequence(sentences, batch_first=True)


def corpus(count):
    lengths = [7, 12, 9, 16, 5, 21, 11, 14, 18, 25][:count]
    return [torch.randint(2, WORDS, (length,)) for length in lengths]


def main():
    model = Encoder().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch_xla.sync()
    sentences = corpus(10)
    for start in range(0, 10, 2):
        tokens = collate(sentences[start:start + 2]).to(device)  # <- cause
        optimizer.zero_grad()
        logits = model(tokens)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(loss.item())


main()
