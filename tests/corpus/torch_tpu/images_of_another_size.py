# cause: shape
# subject: images
# old: f32[2,3,16,16]
# new: f32[2,3,24,24]
# advice: resize

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1)).to(device)


@torch.compile(backend="tpu")
def features(images):
    return model(images).sum()


def main():
    for step in range(6):
        size = 24 if step == 4 else 16
        loss = features(torch.ones(2, 3, size, size).to(device))  # <- cause
        loss.backward()
        print("%.5f" % loss.item())


main()
