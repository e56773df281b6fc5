"""The trainers of this lane, and a server: how each is started, what it saves, and the accident that is planted in it.

A script of this folder marks the line of its accident with `# ACCIDENT`. The cause and the line were written down
before Keel's answer was looked at.
"""

import dataclasses
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Accident:
    kind: str  # as in src/explain/cause.h
    old: str
    new: str
    file: str  # the end of its path
    # Sizes where they depend on the target.
    elsewhere: dict = dataclasses.field(default_factory=dict)
    at: str = ""  # the line's text, if the file is a package's
    only: str = ""  # the target that has it; "": all

    def sizes(self, target):
        return self.elsewhere.get(target, (self.old, self.new))

    def line(self, site_packages):
        """That of the mark in a script of this folder, or of `at` in a package."""
        here = (HERE / self.file).exists()
        text = ((HERE if here else site_packages) / self.file).read_text().splitlines()
        return next(number for number, line in enumerate(text, 1) if ("# ACCIDENT" if here else self.at) in line)


@dataclasses.dataclass(frozen=True)
class Trainer:
    name: str
    environment: str  # tools/requirements-trainers-<environment>.txt
    # After the Python of that environment. {here} is this folder, {out} the one that it is started in, and {steps}
    # how many steps it makes in all: STEPS, and twice as many when it is started again.
    command: str
    saves: str  # a pattern, below {out}; "": nothing that matters
    says: str  # at the end; {last} is its last step
    restored: str  # when it is started again where it has saved
    accident: Accident | None
    variables: dict = dataclasses.field(default_factory=dict)
    # What its documentation says to add on each platform or target.
    platforms: dict = dataclasses.field(default_factory=dict)
    further: tuple = ()  # accidents of the same line
    # What it is rehearsed on, and the platform of each.
    targets: dict = dataclasses.field(default_factory=lambda: TARGETS)
    # On which of these with the compiler.
    compiled: tuple = ("v6e:2x4",)
    phases: tuple = ()  # of run.py, those that make sense; (): all but those of servers
    values: str = "zeros"  # what a rehearsal reads where no device computed anything
    # Checks that are known to fail, by phase and name, and why. One that passes all the same is an error too.
    limits: dict = dataclasses.field(default_factory=dict)


STEPS = 6
# v6e:4x4 has four hosts.
TARGETS = {"v6e:2x4": "tpu", "v6e:4x4": "tpu", "h200:8": "gpu"}
WHOLE_PROMPT = Accident("shape", "bf16[8,256]", "bf16[16,256]", "tpu_inference/runner/tpu_runner.py",
                        at="full_logits = self.compute_logits_fn(")
WHOLE_LOGITS = Accident("shape", "bf16[16,256]", "bf16[16,1024]", "tpu_inference/runner/tpu_runner.py",
                        at="logits = self._select_from_array_fn(")
OF_VLLM = {"KEEL_APPLICATION": "vllm,tpu_inference", "VLLM_NO_USAGE_STATS": "1"}

TRAINERS = [
    Trainer("nnx", "jax", "{here}/nnx_gpt.py {steps}", "checkpoints/3/**/*", "done", "restored step 3",
            Accident("shape", "i32[16,65]", "i32[8,65]", "nnx_gpt.py")),
    Trainer("keras", "jax", "{here}/keras_gpt.py", "best.keras", "done", "restored best.keras",
            Accident("shape", "i32[16,32]", "i32[8,32]", "keras_gpt.py",
                     {"v6e:4x4": ("i32[64,32]", "i32[32,32]")}),
            {"KERAS_BACKEND": "jax"}),
    # The batch grows while it trains; what it is traced for at the start is the last size.
    Trainer("maxtext", "maxtext",
            "-m maxtext.trainers.pre_train.train run_name=lane base_output_directory={out}/out steps={steps}"
            " dataset_type=synthetic base_emb_dim=64 base_mlp_dim=128 base_num_decoder_layers=2 head_dim=16"
            " base_num_query_heads=4 base_num_kv_heads=4 vocab_size=256 max_target_length=128"
            " ici_fsdp_parallelism=-1 ici_tensor_parallelism=2 checkpoint_period=3 eval_interval=3 eval_steps=2"
            " enable_rampup_batch_size=true per_device_batch_size_start=2 per_device_batch_size_increment=2"
            " per_device_batch_size=4 global_rampup_samples=40 enable_goodput_recording=false"
            " enable_tensorboard=false jax_cache_dir= allow_split_physical_axes=true",
            "out/lane/checkpoints/3/**/*", "completed step: {last},", "restoring from this run",
            Accident("shape", "i32[16,128]", "i32[8,128]", "maxtext/trainers/pre_train/train.py",
                     {"v6e:2x4": ("i32[32,128]", "i32[16,128]"), "h200:8": ("i32[32,128]", "i32[16,128]"),
                      "v6e:4x4": ("i32[64,128]", "i32[32,128]")}, "state, metrics = p_attempt(state, example_batch"),
            platforms={"cpu": "hardware=cpu skip_jax_distributed_system=true", "tpu": "hardware=tpu",
                       "gpu": "hardware=gpu"}),
    Trainer("levanter", "levanter", "{here}/levanter_gpt2.py {steps}", "out/checkpoints/lane/step-5/**/*", "done",
            "Loading checkpoint from",
            Accident("shape", "i32[16,64]", "i32[32,64]", "levanter/trainer.py",
                     at="        return fn(*args, **kwargs)")),
    Trainer("tunix", "google", "{here}/tunix_sft.py {steps}", "checkpoints/3/**/*", "done",
            "Restored params from step: 6",
            Accident("shape", "i32[16,32]", "i32[8,32]", "tunix_sft.py",
                     {"v6e:4x4": ("i32[32,32]", "i32[16,32]")}), {"TQDM_DISABLE": "1"}),
    Trainer("gemma", "google", "{here}/gemma_gm.py {steps}", "checkpoints/6/**/*", "done", "restored step 6",
            Accident("shape", "i32[16,33]", "i32[8,33]", "gemma_gm.py", {"v6e:4x4": ("i32[64,33]", "i32[32,33]")})),
    Trainer("kauldron", "google", "{here}/kauldron_gemma.py {steps}", "out/checkpoints/ckpt_3/**/*", "done",
            "Starting training loop at step 3", Accident("shape", "i32[64,32]", "i32[32,32]", "kauldron_gemma.py")),
    Trainer("brax", "jax", "{here}/brax_ppo.py", "checkpoints/0*/**/*", "done", "restored 0",
            Accident("shape", "f32[8,4]", "f32[5,4]", "brax_ppo.py"),
            # At its end it asserts what devices computed: true or false.
            values="ones",
            limits={(phase, "accident"): "two functions that brax maps at one line are taken for one: jit__fun"
                    for phase in ("cold", "v6e:2x4, none", "h200:8, none", "v6e:2x4, new")}
            | {("keys", "keys"): "its last function closes over means that devices compute, 2 of its 237 programs",
               ("v6e:4x4, none", "end"): "brax takes other hosts' devices for its own, unless JAX is distributed"}),
    Trainer("diffrax", "jax", "{here}/diffrax_node.py", "model.eqx", "done", "restored model.eqx",
            Accident("shape", "f32[10]", "f32[20]", "diffrax_node.py"),
            limits={("warm", "warm"): "equinox checks with host callbacks; JAX's own client stores no program with one",
                    ("v6e:2x4, again", "warm"): "nor do rehearsals for TPUs",
                    ("v6e:4x4, none", "accident"): "each host trains by itself, and each has its accident"}),
    # What asks for logits of a whole prompt asks for two programs that vLLM does not warm up.
    Trainer("vllm", "vllm", "{here}/vllm_serve.py", "", "done", "", WHOLE_PROMPT, OF_VLLM, {"v6e:2x2": "4"},
            (WHOLE_LOGITS,
             # Its logits are whole, those of a warm-up shards.
             Accident("sharding", "P('data', 'model')", "P()", "tpu_inference/runner/tpu_runner.py",
                      at="next_tokens, processed_logits = sample(", only="v6e:2x2")),
            {"v6e:1x1": "tpu", "v6e:2x2": "tpu"}, ("v6e:1x1", "v6e:2x2"),
            ("none", "compiler", "compiler_again", "frozen")),
    Trainer("vllm-http", "vllm", "{here}/vllm_http.py", "", "done", "", WHOLE_PROMPT, OF_VLLM, {}, (WHOLE_LOGITS,),
            {"v6e:1x1": "tpu"}, ("v6e:1x1",), ("compiler", "compiler_again", "frozen")),
]
