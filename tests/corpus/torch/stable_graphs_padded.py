# cause: stable

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
NODES, EDGES = 12, 20
first, second = torch.nn.Linear(4, 8).to(device), torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
torch_xla.sync()


def padded(nodes, edges):
    features = torch.zeros(NODES + 1, 4)
    features[:len(nodes)] = nodes
    ends = torch.full((2, EDGES), NODES)
    ends[:, :edges.shape[1]] = edges
    return features.to(device), ends.to(device)


def gather(hidden, ends):
    messages = hidden.index_select(0, ends[0])
    return torch.zeros_like(hidden).index_add(0, ends[1], messages)


for nodes, edges in ((9, 14), (12, 20), (7, 11), (10, 16)):
    features, ends = padded(torch.randn(nodes, 4), torch.randint(nodes, (2, edges)))
    label = torch.randint(2, (1,)).to(device)
    hidden = torch.relu(gather(first(features), ends))
    logits = second(gather(hidden, ends)[:NODES].mean(0, keepdim=True))
    loss = torch.nn.functional.cross_entropy(logits, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
print(loss.item())
