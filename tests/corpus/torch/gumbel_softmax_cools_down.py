# program: SyncTensorsGraph
# cause: constant
# subject: divide
# old: 1
# new: an argument
# reason: the temperature is 1 in the first epoch, which is baked in

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Discrete(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = torch.nn.Linear(6, 5), torch.nn.Linear(5, 6)

    def forward(self, x, temperature):
        code = torch.nn.functional.gumbel_softmax(self.encode(x), tau=temperature)  # <- cause
        return self.decode(code)


model = Discrete().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
temperature = 1.0
for epoch in range(3):
    for _ in range(2):
        x = torch.randn(8, 6).to(device)
        optimizer.zero_grad()
        loss = (model(x, temperature) - x).abs().mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    temperature *= 0.9
