# program: SyncTensorsGraph
# cause: structure
# subject: optimizer
# old: updates 4 tensors
# new: updates none
# advice: assign=True
# reason: everything that changes in that step and the next follows from parameters that the optimizer does not have

import torch
import torch_xla

torch.manual_seed(0)
device = torch_xla.device()
model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Tanh(), torch.nn.Linear(12, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for parameter in model.parameters():
    parameter.grad = torch.zeros_like(parameter)
torch_xla.sync()
for step in range(7):
    optimizer.zero_grad()
    for _ in range(2):
        x, y = torch.randn(4, 6).to(device), torch.randint(3, (4,)).to(device)
        torch.nn.functional.cross_entropy(model(x), y).backward()
        torch_xla.sync()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
    optimizer.step()
    torch_xla.sync()
    if step == 3:
        saved = {name: value.cpu() for name, value in model.state_dict().items()}
        model.load_state_dict({k: v.to(device) for k, v in saved.items()}, assign=True)  # <- cause
