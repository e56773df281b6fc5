# program: SyncTensorsGraph
# cause: first

import numpy as np
import torch
import torch_xla
from transformers import ElectraConfig, ElectraForTokenClassification


class Scores:
    def __init__(self):
        self.right = self.all = 0

    def add(self, logits, labels):
        guessed = logits.argmax(-1).cpu().numpy()  # <- cut
        counted = labels >= 0
        self.right += int(np.sum((guessed == labels) & counted))
        self.all += int(counted.sum())

    def accuracy(self):
        return self.right / max(1, self.all)


def batches(count):
    for _ in range(count):
        labels = torch.randint(5, (4, 12))
        labels[:, -2:] = -100
        yield torch.randint(64, (4, 12)), labels


def train(model, device, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scores = Scores()
    for ids, labels in batches(steps):
        out = model(ids.to(device), labels=labels.to(device))
        scores.add(out.logits, labels.numpy())
        optimizer.zero_grad()
        out.loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- cause
    return scores.accuracy()


torch.manual_seed(0)
device = torch_xla.device()
config = ElectraConfig(vocab_size=64, embedding_size=16, hidden_size=16, num_hidden_layers=1,
                       num_attention_heads=2, intermediate_size=32, max_position_embeddings=32,
                       hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, num_labels=5,
                       attn_implementation="eager")
model = ElectraForTokenClassification(config).to(device)
torch_xla.sync()
print(train(model, device, steps=4))
