# program: SyncTensorsGraph
# cause: first
# reason: an evaluation is asked for by a read, and is not part of a step

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()


def evaluate(batches):
    with torch.no_grad():
        for _ in range(batches):
            held_out = torch.randn(8, 4).to(device)
            print(model(held_out).mean().item())  # <- cause, read


for step in range(6):
    x = torch.randn(8, 4).to(device)
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
    torch_xla.sync()
    if step % 2:
        evaluate(1 + step // 2)
