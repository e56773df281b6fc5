# program: SyncTensorsGraph
# cause: structure
# old: nothing

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Rounded(torch.nn.Linear):
    quantized = False

    def forward(self, x):
        weight = self.weight
        if self.quantized:
            weight = weight + ((weight / 0.05).round().clamp(-8, 7) * 0.05 - weight).detach()  # <- cause
        return torch.nn.functional.linear(x, weight, self.bias)


layer = Rounded(6, 4).to(device)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
torch_xla.sync()
for step in range(4):
    layer.quantized = step >= 3
    x = torch.randn(5, 6).to(device)
    optimizer.zero_grad()
    loss = layer(x).square().mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
