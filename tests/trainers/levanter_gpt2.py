"""Levanter's own train_lm with a nano GPT-2 on tokens that are made here: a batch that grows at the fifth step, an
evaluation every three steps, and a checkpoint at the end, from which it goes on when it is started again.

Usage: levanter_gpt2.py [STEPS]
"""

import datetime
import pathlib
import sys
import tempfile

import numpy as np
from levanter.checkpoint import CheckpointerConfig
from levanter.data.dataset import ListAsyncDataset
from levanter.data.text.datasets import DirectDatasetComponent, LmDataConfig
from levanter.data.text.examples import GrugLmExample
from levanter.main import train_lm
from levanter.models.gpt2 import Gpt2Config
from levanter.optim.config import AdamConfig
from levanter.schedule import ScheduleStep
from levanter.tracker.json_logger import JsonLoggerConfig
from levanter.trainer import TrainerConfig
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 6
LENGTH = 64


def examples(seed, count):
    tokens = np.random.default_rng(seed).integers(0, 256, (count, LENGTH)).astype(np.int32)
    return ListAsyncDataset(list(tokens)).map(GrugLmExample.causal)


def tokenizer():
    """One for the model's converter, which would otherwise ask a hub. The data needs none. Each host has its own: they
    write at the same time.
    """
    folder = tempfile.mkdtemp()
    words = {str(token): token for token in range(256)}
    PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="0"))).save_pretrained(folder)
    return folder


if __name__ == "__main__":
    out = pathlib.Path("out").absolute()
    train_lm.main(train_lm.TrainLmConfig(
        data=LmDataConfig(
            tokenizer="passthrough", vocab_size=256, shuffle=False, cache_dir=str(out / "cache"),
            components={"made": DirectDatasetComponent(
                datasets={"train": examples(0, 256), "validation": examples(1, 20)})},
            train_weights={"made": 1.0}),
        model=Gpt2Config(max_seq_len=LENGTH, hidden_dim=64, num_layers=4, num_heads=4,
                         tokenizer=tokenizer()),
        optimizer=AdamConfig(learning_rate=1e-3),
        trainer=TrainerConfig(
            id="lane", num_train_steps=STEPS, train_batch_size=[ScheduleStep(0, 16), ScheduleStep(4, 32)],
            steps_per_eval=3, max_eval_batches=2, tracker=JsonLoggerConfig(), require_accelerator=False,
            checkpointer=CheckpointerConfig(base_path=str(out / "checkpoints"),
                                            save_interval=datetime.timedelta(hours=1)))))
    print("done")
