# program: SyncTensorsGraph
# cause: structure
# old: nothing
# reason: what is logged of every third step is computed before its sync

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Log:
    def __init__(self, every):
        self.every, self.norms = every, []

    def after_backward(self, step, model):
        if step % self.every == self.every - 1:
            self.norms.append(model[0].weight.grad.norm())  # <- cause

    def show(self):
        print([round(norm.item(), 4) for norm in self.norms])


model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
log = Log(every=3)
torch_xla.sync()
for step in range(6):
    x = torch.randn(16, 8).to(device)
    y = torch.randn(16, 1).to(device)
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    log.after_backward(step, model)
    optimizer.step()
    torch_xla.sync()  # <- call
log.show()
