# program: SyncTensorsGraph
# cause: structure
# reason: a coin decides whether the decoder goes on with the target or with its own token

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Decoder(torch.nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.embed = torch.nn.Embedding(tokens, width)
        self.cell = torch.nn.GRUCell(width, width)
        self.out = torch.nn.Linear(width, tokens)

    def forward(self, target, forced):
        state = torch.zeros(len(target), self.cell.hidden_size, device=target.device)
        token, logits = target[:, 0], []
        for place in range(1, target.shape[1]):
            state = self.cell(self.embed(token), state)
            logits.append(self.out(state))
            token = target[:, place] if forced else logits[-1].argmax(-1)  # <- cause
        return torch.stack(logits, 1)


decoder = Decoder(12, 8).to(device)
optimizer = torch.optim.SGD(decoder.parameters(), lr=0.1)
torch_xla.sync()
for forced in (True, True, False, True, False):
    target = torch.randint(12, (4, 4)).to(device)
    optimizer.zero_grad()
    logits = decoder(target, forced)
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
