# cause: stable
# run: 0 2
# run: 2 4

import pathlib
import sys

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
first, last = map(int, sys.argv[1:])
CHECKPOINT = pathlib.Path("language_model.pt")


class LanguageModel(nn.Module):
    def __init__(self, words=30, width=12):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.dropout = nn.Dropout(0.1)
        self.out = nn.Linear(width, words)

    def forward(self, ids):
        return self.out(self.dropout(self.rnn(self.embed(ids))[0]))


model = LanguageModel()
state = torch.load(CHECKPOINT) if CHECKPOINT.exists() else None
if state:
    model.load_state_dict(state["model"])
model.to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.003, weight_decay=0.02, betas=(0.9, 0.98))
if state:
    optimizer.load_state_dict(state["optimizer"])
else:  # the first step then has the inputs of all others
    for p in model.parameters():
        optimizer.state[p] = {"step": torch.zeros(()), "exp_avg": torch.zeros_like(p),
                              "exp_avg_sq": torch.zeros_like(p)}
text = torch.randint(30, (400,))
torch_xla.sync()
model.train()
for epoch in range(first, last):
    for start in range(0, 96, 32):
        rows = torch.stack([text[at:at + 9] for at in range(start, start + 32, 8)])
        ids, targets = rows[:, :-1].to(device), rows[:, 1:].to(device)
        optimizer.zero_grad()
        logits = model(ids)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        torch_xla.sync()
    print(epoch, loss.item())
state = {"model": {k: v.cpu() for k, v in model.state_dict().items()}, "optimizer": optimizer.state_dict()}
torch.save(torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.cpu(), state), CHECKPOINT)
