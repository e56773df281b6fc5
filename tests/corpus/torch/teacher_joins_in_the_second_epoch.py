# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[...
# reason: the teacher is asked from the second epoch on, and its weights are inputs from then on

import torch
import torch.nn.functional as F
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
teacher = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
student = torch.nn.Linear(8, 4).to(device)
teacher.to(device).eval()
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
torch_xla.sync()


def distillation(logits, x):
    with torch.no_grad():
        wanted = teacher(x).softmax(-1)  # <- cause
    return F.kl_div(logits.log_softmax(-1), wanted, reduction="batchmean")


for epoch in range(2):
    for _ in range(3):
        x, y = torch.randn(10, 8).to(device), torch.randint(4, (10,)).to(device)
        logits = student(x)
        loss = F.cross_entropy(logits, y)
        if epoch > 0:
            loss = 0.3 * loss + 0.7 * distillation(logits, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
