import torch
import torch_xla

model = torch.nn.Linear(4, 4)
model.load_state_dict(torch.load("a.pt"), assign=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.load_state_dict(torch.load("b.pt"), assign=True)  # expect: load-assign
model.load_state_dict(torch.load("c.pt"))
model.load_state_dict(torch.load("d.pt"), assign=False)
slow = torch.optim.AdamW(model.parameters(), lr=torch.tensor([1e-3]).to("xla"))  # expect: rate-not-capturable
fast = torch.optim.AdamW(model.parameters(), lr=torch.tensor([1e-3]).to("xla"), capturable=True)
plain = torch.optim.AdamW(model.parameters(), lr=1e-3)
