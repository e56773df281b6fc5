# cause: arguments
# advice: before the first step
# and
# cause: constant
# reason: the state is made in the first step, and the decay of the averages is 0 there

import torch
import torch_xla
from transformers import Adafactor, OPTConfig, OPTForCausalLM


def small_model():
    config = OPTConfig(vocab_size=48, hidden_size=16, num_hidden_layers=1, ffn_dim=32,
                       num_attention_heads=2, max_position_embeddings=32, word_embed_proj_dim=16,
                       dropout=0.0, attention_dropout=0.0, attn_implementation="eager")
    return OPTForCausalLM(config)


def batches(count):
    for _ in range(count):
        ids = torch.randint(3, 48, (4, 10))
        yield {"input_ids": ids, "labels": ids, "attention_mask": torch.ones_like(ids)}


class Trainer:
    def __init__(self, model, device):
        self.model, self.device = model.to(device), device
        self.optimizer = Adafactor(model.parameters(), lr=1e-3, scale_parameter=False,
                                   relative_step=False, warmup_init=False)
        torch_xla.sync()

    def step(self, batch):
        batch = {name: value.to(self.device) for name, value in batch.items()}
        self.optimizer.zero_grad()
        loss = self.model(**batch).loss
        loss.backward()
        self.optimizer.step()  # <- cause, cause 2
        torch_xla.sync()  # <- call, call 2
        return loss.item()


torch.manual_seed(0)
trainer = Trainer(small_model(), torch_xla.device())
for batch in batches(4):
    print(trainer.step(batch))
