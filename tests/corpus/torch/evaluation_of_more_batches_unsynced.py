# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[8,6]
# reason: nothing ends a batch of the evaluation, so its program has as many inputs as it has batches

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU(), torch.nn.Linear(12, 3)).to(device)
model.eval()
data = [(torch.randn(8, 6), torch.randint(3, (8,))) for _ in range(4)]
torch_xla.sync()


@torch.no_grad()
def evaluate(batches):
    right = 0
    for x, y in batches:
        x = x.to(device)  # <- cause
        y = y.to(device)
        right = right + (model(x).argmax(-1) == y).sum()
    return right.item()  # <- call, read


print("quick", evaluate(data[:3]))
print("whole", evaluate(data))
