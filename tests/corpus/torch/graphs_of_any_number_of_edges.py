# program: SyncTensorsGraph
# cause: shape
# pattern: unpadded
# advice: Pad
# reason: each graph has as many edges as it has

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
NODES = 12


class Convolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own, self.neighbours = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs, bias=False)

    def forward(self, x, edges):
        sources, targets = edges
        messages = self.neighbours(x).index_select(0, sources)
        gathered = torch.zeros_like(messages[:1]).expand(NODES, -1).index_add(0, targets, messages)
        return torch.relu(self.own(x) + gathered)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Convolution(5, 8), Convolution(8, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x, edges):
        return self.head(self.second(self.first(x, edges), edges).mean(0))


graphs = [(torch.randn(NODES, 5), torch.randint(NODES, (2, edges)), torch.randn(1))
          for edges in (30, 22, 41, 26, 35)]
model = Network().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
torch_xla.sync()
for graph in graphs:
    x, edges, y = (tensor.to(device) for tensor in graph)  # <- cause
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x, edges), y)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(loss.item())
