# program: SyncTensorsGraph
# cause: shape
# old: i64[4,9]
# new: i64[3,9]

import torch
import torch_xla


class Block(torch.nn.Module):
    def __init__(self, words=17, size=16):
        super().__init__()
        self.embed = torch.nn.Embedding(words, size)
        self.norm = torch.nn.LayerNorm(size)
        self.qkv = torch.nn.Linear(size, 3 * size)
        self.wide, self.narrow = torch.nn.Linear(size, 4 * size), torch.nn.Linear(4 * size, size)
        self.head = torch.nn.Linear(size, words)

    def forward(self, ids):
        x = self.embed(ids)
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=2)
        x = x + (q @ k.transpose(1, 2)).softmax(-1) @ v
        x = x + self.narrow(torch.nn.functional.gelu(self.wide(x)))
        return self.head(x)


device = torch_xla.device()
model = Block().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)


def step(ids):
    optimizer.zero_grad()
    scores = model(ids[:, :-1])
    loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    optimizer.step()


for batch in torch.ones(15, 9, dtype=torch.int64).split(4):
    ids = batch.to(device)  # <- cause
    step(ids)
    torch_xla.sync()  # <- call
