# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[1,4,8]
# advice: zeros
# reason: the state of the GRU is None for the first piece of the text, and an input from then on

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class LanguageModel(torch.nn.Module):
    def __init__(self, words=20, width=8):
        super().__init__()
        self.embed = torch.nn.Embedding(words, width)
        self.rnn = torch.nn.GRU(width, width, batch_first=True)
        self.out = torch.nn.Linear(width, words)

    def forward(self, ids, state):
        outputs, state = self.rnn(self.embed(ids), state)  # <- cause
        return self.out(outputs), state


model = LanguageModel().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
text = torch.randint(20, (4, 16))
torch_xla.sync()
state = None
for start in range(0, 15, 5):
    ids = text[:, start:start + 5].to(device)
    targets = text[:, start + 1:start + 6].to(device)
    optimizer.zero_grad()
    logits, state = model(ids, state)
    state = state.detach()
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
print(loss.item())
