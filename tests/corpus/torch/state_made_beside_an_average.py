# program: SyncTensorsGraph
# cause: arguments
# old: absent
# advice: optimizer.state
# and
# cause: constant
# subject: multiply
# old: 1
# new: an argument
# reason: the average is a copy of the weights in the first step, and its factor is 1 there

import torch
import torch_xla

torch.manual_seed(0)
device = torch_xla.device()
model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Tanh(), torch.nn.Linear(12, 3)).to(device)
average = [parameter.detach().clone() for parameter in model.parameters()]
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, capturable=True)
for step in range(3):
    model(torch.randn(4, 6).to(device)).pow(2).mean().backward()
    optimizer.step()  # <- cause
    optimizer.zero_grad()
    with torch.no_grad():
        for mean, parameter in zip(average, model.parameters()):
            mean.sub_((1 - min(0.9, step / (step + 5))) * (mean - parameter))  # <- cause 2
    torch_xla.sync()  # <- call
