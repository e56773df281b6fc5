# program: SyncTensorsGraph
# cause: shape
# old: f32[3]
# new: f32[5]
# reason: the heads of two tasks have as many outputs as their tasks have classes

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
trunk = torch.nn.Linear(6, 8)
heads = torch.nn.ModuleDict({"colour": torch.nn.Linear(8, 3), "form": torch.nn.Linear(8, 5)})
model = torch.nn.ModuleDict({"trunk": trunk, "heads": heads}).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
classes = {"colour": 3, "form": 5}
torch_xla.sync()
for task in ("colour", "colour", "form"):
    x, y = torch.randn(4, 6).to(device), torch.randint(classes[task], (4,)).to(device)
    features = torch.relu(model["trunk"](x))
    logits = model["heads"][task](features)  # <- cause
    loss = torch.nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
