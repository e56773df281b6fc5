# program: SyncTensorsGraph
# cause: structure
# old: nothing
# reason: a forward hook measures how far the activations spread, in every third step

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Watch:
    def __init__(self, every):
        self.every, self.step, self.spreads = every, 0, []

    def attach(self, module):
        module.register_forward_hook(self.measure)

    def measure(self, module, inputs, output):
        self.step += 1
        if self.step % self.every == 0:
            self.spreads.append(output.detach().std())  # <- cause


model = nn.Sequential(nn.Linear(9, 18), nn.LeakyReLU(0.1), nn.Linear(18, 18), nn.LeakyReLU(0.1),
                      nn.Linear(18, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
watch = Watch(every=3)
watch.attach(model[2])
torch_xla.sync()
for step in range(7):
    x, y = torch.randn(10, 9).to(device), torch.randn(10, 1).to(device)
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
print(loss.item(), [round(spread.item(), 3) for spread in watch.spreads])
