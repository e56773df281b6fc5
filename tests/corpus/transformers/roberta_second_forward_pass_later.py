# cause: structure
# old: nothing
# reason: the second epoch compares two forward passes of each batch

import torch
import torch.nn.functional as F
import torch_xla
from transformers import RobertaConfig, RobertaForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)


def consistency(a, b):
    a, b = a.log_softmax(-1), b.log_softmax(-1)
    both = F.kl_div(a, b, log_target=True, reduction="sum") + F.kl_div(b, a, log_target=True, reduction="sum")
    return both / (2 * len(a))


class Trainer:
    def __init__(self, model, consistent_from):
        self.model, self.consistent_from = model, consistent_from
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def loss_of(self, inputs, epoch):
        outputs = self.model(**inputs)
        if epoch < self.consistent_from:
            return outputs.loss
        again = self.model(**inputs)  # <- cause
        return (outputs.loss + again.loss) / 2 + 0.7 * consistency(outputs.logits, again.logits)

    def step(self, inputs, epoch):
        self.optimizer.zero_grad()
        loss = self.loss_of(inputs, epoch)
        loss.backward()
        self.optimizer.step()
        torch_xla.sync()  # <- call
        return loss


config = RobertaConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                       intermediate_size=32, max_position_embeddings=20, num_labels=3, attn_implementation="eager")
trainer = Trainer(RobertaForSequenceClassification(config).to(device).train(), consistent_from=1)
mask = torch.ones(5, 10).to(device)
torch_xla.sync()
for epoch in range(2):
    for _ in range(2):
        inputs = {"input_ids": torch.randint(2, 64, (5, 10)).to(device), "attention_mask": mask,
                  "labels": torch.randint(3, (5,)).to(device)}
        loss = trainer.step(inputs, epoch)
    print(epoch, loss.item())
