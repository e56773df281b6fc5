# program: SyncTensorsGraph
# cause: structure
# old: absent
# new: f32[2,4]
# reason: results that are kept turn the order of the operations and arguments round

import torch
import torch_xla

device = torch_xla.device()


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(3, 4)
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(4) for _ in range(3)])
        self.linears = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x, all_states):
        x = self.embedding(x)
        states = []
        for norm, linear in zip(self.norms, self.linears):
            x = norm(x + linear(x))  # <- cause
            states.append(x)
        return states if all_states else states[-1:]


model = Layers().to(device)
torch_xla.sync()
torch.set_grad_enabled(False)
for step in range(3):
    x = torch.tensor([0, 1]).to(device)
    states = model(x, step == 2)
    torch_xla.sync()  # <- call
