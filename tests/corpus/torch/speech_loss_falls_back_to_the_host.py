# program: SyncTensorsGraph
# cause: first
# reason: PyTorch/XLA has no CTC loss: the host computes it in the middle of each step

import torch
import torch.nn.functional as F
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(5, 6).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
frames, letters = torch.full((3,), 12), torch.full((3,), 4)
torch_xla.sync()
for step in range(3):
    sound, text = torch.randn(12, 3, 5).to(device), torch.randint(1, 6, (3, 4)).to(device)
    scores = model(sound).log_softmax(2)
    loss = F.ctc_loss(scores, text, frames, letters)  # <- cut 3
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- cause
