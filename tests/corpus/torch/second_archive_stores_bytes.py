# program: SyncTensorsGraph
# cause: dtype
# old: f32[8,12]
# new: u8[8,12]
# advice: Convert
# reason: the second archive has its spectra as bytes, and the step converts them

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Archive:
    def __init__(self, spectra):
        self.spectra = spectra
        self.labels = torch.randint(3, (len(spectra),))

    def batches(self, size):
        for start in range(0, len(self.spectra), size):
            yield self.spectra[start:start + size], self.labels[start:start + size]


def archives():
    yield Archive(torch.rand(16, 12) * 255)
    yield Archive(torch.randint(256, (16, 12), dtype=torch.uint8))


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(12, 16), torch.nn.SiLU(), torch.nn.Linear(16, 3))

    def forward(self, spectra):
        return self.layers(spectra.float() / 255)


model = Classifier().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for archive in archives():
    for spectra, labels in archive.batches(8):
        spectra = spectra.to(device)  # <- cause
        labels = labels.to(device)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(spectra), labels)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(loss.item())
