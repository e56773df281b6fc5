# program: SyncTensorsGraph
# cause: constant
# subject: multiply
# old: 0
# new: an argument
# reason: the weight of the second loss rises from 0, and 0 is baked in

import torch
import torch.nn.functional as F
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Vae(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = torch.nn.Linear(12, 8)
        self.decode = torch.nn.Linear(4, 12)

    def forward(self, x):
        mean, log_var = self.encode(x).chunk(2, dim=1)
        z = mean + torch.randn_like(mean) * (0.5 * log_var).exp()
        return self.decode(z), mean, log_var


vae = Vae().to(device)
optimizer = torch.optim.SGD(vae.parameters(), lr=0.05)
torch_xla.sync()
for epoch in range(3):
    beta = min(1.0, epoch / 8)
    for _ in range(2):
        x = torch.rand(6, 12).to(device)
        restored, mean, log_var = vae(x)
        kl = -0.5 * (1 + log_var - mean.square() - log_var.exp()).sum(1).mean()
        loss = F.binary_cross_entropy_with_logits(restored, x) + beta * kl  # <- cause
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(epoch, loss.item())
