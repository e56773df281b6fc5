# cause: stable

import os
import tempfile

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.ReLU())
        self.head = torch.nn.Linear(4, 3)

    def forward(self, images):
        return self.head(self.backbone(images).mean((2, 3)))


model = Classifier().to(device)
for parameter in model.backbone.parameters():
    parameter.requires_grad = False
optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1)
best = float("inf")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "best.pt")
    for epoch in range(3):
        for _ in range(2):
            images = torch.rand(4, 1, 8, 8).to(device)
            labels = torch.randint(3, (4,)).to(device)
            optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            torch_xla.sync()
        if loss.item() < best:
            best = loss.item()
            torch.save({k: v.cpu() for k, v in model.state_dict().items()}, path)
        else:
            model.load_state_dict(torch.load(path))
print(best)
