# program: SyncTensorsGraph
# cause: shape
# old: i64[2,14]
# new: i64[2,11]
# advice: Pad
# reason: the nodes are padded to one number, but the edges are not

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Convolution(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own = torch.nn.Linear(inputs, outputs)
        self.others = torch.nn.Linear(inputs, outputs, bias=False)

    def forward(self, nodes, edges):
        source, target = edges
        messages = self.others(nodes).index_select(0, source)
        gathered = torch.zeros(len(nodes), messages.shape[1], device=nodes.device)
        return self.own(nodes) + gathered.index_add(0, target, messages)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Convolution(5, 8), Convolution(8, 2)

    def forward(self, nodes, edges):
        return self.second(torch.relu(self.first(nodes, edges)), edges)


model = Network().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for count in (14, 14, 11):
    nodes = torch.randn(10, 5).to(device)
    edges = torch.randint(10, (2, count)).to(device)  # <- cause
    labels = torch.randint(2, (10,)).to(device)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(nodes, edges), labels)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
