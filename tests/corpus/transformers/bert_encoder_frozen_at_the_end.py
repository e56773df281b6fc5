# cause: structure
# subject: optimizer
# new: updates 2 tensors

import torch
import torch_xla
from transformers import BertConfig, BertForSequenceClassification


class FineTuning:
    """Trains everything, then only the classifier."""

    def __init__(self, model, device, epochs, frozen_from):
        self.model, self.device = model.to(device), device
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        self.epochs, self.frozen_from = epochs, frozen_from
        torch_xla.sync()

    def run(self, batches):
        for epoch in range(self.epochs):
            if epoch == self.frozen_from:
                self.model.bert.requires_grad_(False)
            losses = [self.step(batch) for batch in batches]
            print(epoch, sum(losses) / len(losses))

    def step(self, batch):
        batch = {name: value.to(self.device) for name, value in batch.items()}
        self.optimizer.zero_grad()
        loss = self.model(**batch).loss
        loss.backward()
        self.optimizer.step()  # <- cause
        torch_xla.sync()  # <- call
        return loss.item()


def make_batches(count):
    for _ in range(count):
        yield {"input_ids": torch.randint(64, (4, 12)), "labels": torch.randint(3, (4,)),
               "attention_mask": torch.ones(4, 12, dtype=torch.long)}


torch.manual_seed(0)
config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=32, hidden_dropout_prob=0.0,
                    attention_probs_dropout_prob=0.0, num_labels=3, attn_implementation="eager")
tuning = FineTuning(BertForSequenceClassification(config), torch_xla.device(), 2, frozen_from=1)
tuning.run(list(make_batches(2)))
