# cause: stable

import torch
import torch_xla
from transformers import T5Config, T5ForConditionalGeneration, get_cosine_schedule_with_warmup

MICRO = 3


def micro_batches(count):
    for _ in range(count):
        yield torch.randint(2, 48, (2, 10)), torch.randint(2, 48, (2, 6))


class Accumulator:
    """One sync for all micro-batches of a step."""

    def __init__(self, model, device, steps):
        self.model, self.device = model.to(device), device
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.07)
        self.schedule = get_cosine_schedule_with_warmup(self.optimizer, 0, 2 * steps)
        torch_xla.sync()

    def step(self, batches):
        total = 0
        self.optimizer.zero_grad()
        for questions, answers in batches:
            loss = self.model(input_ids=questions.to(self.device),
                              labels=answers.to(self.device)).loss / MICRO
            loss.backward()
            total = total + loss.detach()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 2.5)
        self.optimizer.step()
        torch_xla.sync()
        self.schedule.step()
        return total


torch.manual_seed(0)
config = T5Config(vocab_size=48, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
                  dropout_rate=0.0, decoder_start_token_id=0)
accumulator = Accumulator(T5ForConditionalGeneration(config), torch_xla.device(), steps=4)
for number in range(4):
    print(number, accumulator.step(micro_batches(MICRO)).item())
