# cause: structure
# old: nothing

import torch
import torch_xla
from transformers import BertConfig, BertForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)


class Trainer:
    def __init__(self, model, smoothing):
        self.model, self.smoothing, self.step = model, smoothing, 0
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def compute_loss(self, inputs):
        labels = inputs.pop("labels")
        logits = self.model(**inputs).logits
        smoothing = self.smoothing if self.step >= 2 else 0.0
        return torch.nn.functional.cross_entropy(logits, labels, label_smoothing=smoothing)  # <- cause

    def train_step(self, inputs):
        self.optimizer.zero_grad()
        loss = self.compute_loss(inputs)
        loss.backward()
        self.optimizer.step()
        self.step += 1
        torch_xla.sync()  # <- call
        return loss


config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=64, hidden_dropout_prob=0.0,
                    attention_probs_dropout_prob=0.0, num_labels=3, attn_implementation="eager")
trainer = Trainer(BertForSequenceClassification(config).to(device), smoothing=0.1)
ids = torch.randint(64, (4, 16)).to(device)
labels = torch.randint(3, (4,)).to(device)
mask = torch.ones(4, 16).to(device)
torch_xla.sync()
for _ in range(3):
    batch = {"input_ids": ids, "attention_mask": mask, "labels": labels}
    print(trainer.train_step(batch).item())
