# cause: stable

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
NODES, EDGES = 16, 40


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.message, self.own = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, sources, targets, real):
        messages = self.message(x).index_select(0, sources) * real[:, None]
        gathered = torch.zeros_like(x).index_add(0, targets, messages)
        degree = torch.zeros_like(x[:, 0]).index_add(0, targets, real)
        return torch.relu(self.own(x) + gathered / degree.clamp(min=0.5)[:, None])


class Molecule(nn.Module):
    def __init__(self, kinds=7, width=8):
        super().__init__()
        self.kinds = nn.Embedding(kinds, width, padding_idx=0)
        self.layers = nn.ModuleList([Layer(width), Layer(width)])
        self.energy = nn.Linear(width, 1)

    def forward(self, graph):
        x = self.kinds(graph["kinds"])
        for layer in self.layers:
            x = layer(x, graph["sources"], graph["targets"], graph["real"])
        counts = (graph["kinds"] != 0).float()
        return (self.energy(x).squeeze(1) * counts).sum() / counts.sum()


def molecule():
    nodes = torch.randint(5, NODES + 1, ()).item()
    edges = torch.randint(nodes, EDGES + 1, ()).item()
    kinds, ends = torch.zeros(NODES, dtype=torch.long), torch.zeros(2, EDGES, dtype=torch.long)
    kinds[:nodes] = torch.randint(1, 7, (nodes,))
    ends[:, :edges] = torch.randint(nodes, (2, edges))
    real = (torch.arange(EDGES) < edges).float()
    return {"kinds": kinds, "sources": ends[0], "targets": ends[1], "real": real, "energy": torch.randn(1)}


def moved(graph):
    return {name: value.contiguous().to(device) for name, value in graph.items()}


model = Molecule().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.04)
error = torch.zeros(1).to(device)
torch_xla.sync()
for step in range(5):
    optimizer.zero_grad()
    for graph in [molecule() for _ in range(3)]:
        graph = moved(graph)
        loss = F.l1_loss(model(graph)[None], graph["energy"])
        (loss / 3).backward()
        error += loss.detach()
    optimizer.step()
    torch_xla.sync()
    if step % 2 == 0:
        print(step, error.item() / (3 * step + 3))
