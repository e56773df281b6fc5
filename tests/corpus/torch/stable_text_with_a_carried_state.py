# cause: stable

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
embed, rnn, out = torch.nn.Embedding(20, 8), torch.nn.GRU(8, 8, batch_first=True), torch.nn.Linear(8, 20)
model = torch.nn.ModuleList([embed, rnn, out]).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
text = torch.randint(20, (3, 21))
torch_xla.sync()
for epoch in range(2):
    state = torch.zeros(1, 3, 8).to(device)
    for start in range(0, 20, 5):
        ids = text[:, start:start + 5].to(device)
        targets = text[:, start + 1:start + 6].to(device)
        optimizer.zero_grad()
        outputs, state = rnn(embed(ids), state.detach())
        loss = torch.nn.functional.cross_entropy(out(outputs).flatten(0, 1), targets.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        torch_xla.sync()
    print(epoch, loss.exp().item())
