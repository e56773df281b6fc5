# cause: stable

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
embed = torch.nn.Embedding(32, 8).to(device)
out = torch.nn.Linear(8, 32).to(device)
tokens = torch.zeros(2, 12, dtype=torch.long).to(device)
place = torch.zeros(1, dtype=torch.long).to(device)
finished = torch.zeros(2, dtype=torch.bool).to(device)
torch_xla.sync()
with torch.no_grad():
    for count in range(11):
        states = embed(tokens)
        visible = (torch.arange(12, device=device) <= place).float()
        summed = (states * visible[None, :, None]).sum(1)
        best = out(summed).argmax(-1)
        finished |= best == 3
        best = torch.where(finished, 3, best)
        place += 1
        tokens.index_copy_(1, place, best[:, None])
        torch_xla.sync()
        if count % 4 == 3 and finished.all().item():
            break
print(tokens.cpu())
