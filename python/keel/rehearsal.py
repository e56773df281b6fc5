"""What clients look for on a machine, where the device of a rehearsal is not.

JAX and PyTorch/XLA count the GPUs and TPU chips of the machine before they load a plugin, and set
themselves up accordingly: for a TPU both add flags of its compiler, which are part of every
program's key, and PyTorch/XLA starts as many processes as there are chips. `keel rehearse` sets the
variables that such a machine has; what is looked up elsewhere is answered here.
"""

import concurrent.futures
import os
import socket
import types

from ._imports import when_imported

PLATFORM = "KEEL_REHEARSE_PLATFORM"
DEVICES = "KEEL_REHEARSE_DEVICES"  # of one process
CHIPS = "TPU_CHIPS_PER_HOST_BOUNDS"
PROCESS, PROCESSES = "KEEL_REHEARSE_PROCESS", "KEEL_REHEARSE_PROCESSES"
MEETING = "KEEL_REHEARSE_MEETING"  # set if `keel rehearse` has started all of the processes
RANKS = "KEEL_REHEARSE_RANKS"  # a folder in which those that the command starts may meet


def _platform() -> str:
    return os.environ.get(PLATFORM, "")


# ---- JAX -----------------------------------------------------------------------------------------


def _show_gpu(hardware_utils) -> None:
    hardware_utils.has_visible_nvidia_gpu = lambda: True


def _tell_process(xla_bridge) -> None:
    """JAX does not tell a TPU's client which process it is in: the TPU itself knows."""
    make = getattr(xla_bridge, "make_tpu_client", None)
    if make is None:
        return

    def make_and_tell(*arguments, **named):
        from jax._src import distributed
        state = distributed.global_state
        if state.client is not None:
            os.environ.update({PROCESS: str(state.process_id), PROCESSES: str(state.num_processes)})
        return make(*arguments, **named)

    make_and_tell.__wrapped__ = make
    xla_bridge.make_tpu_client = make_and_tell


def _free_address() -> str:
    with socket.socket() as server:
        server.bind(("localhost", 0))
        return f"localhost:{server.getsockname()[1]}"


def _offer_cluster(cluster) -> None:
    """What jax.distributed.initialize() asks for the other processes, which `keel rehearse` starts. On a
    TPU VM it works for one process too: JAX asks the cloud's server, which is not there."""

    class KeelCluster(cluster.ClusterEnv):
        name = "keel"

        @classmethod
        def is_env_present(cls) -> bool:
            return bool(os.environ.get(MEETING)) or not any(
                other.is_env_present() for other in known
                if other is not cls and "tpu" not in other.name and not getattr(other, "opt_in_only_method", False))

        @classmethod
        def get_coordinator_address(cls, *_, **__) -> str:
            return os.environ.get("JAX_COORDINATOR_ADDRESS") or _free_address()

        @classmethod
        def get_process_count(cls) -> int:
            return int(os.environ.get(PROCESSES) or 1)

        @classmethod
        def get_process_id(cls) -> int:
            return int(os.environ.get(PROCESS) or 0)

    known = cluster.ClusterEnv._cluster_types
    known.insert(0, known.pop(known.index(KeelCluster)))  # JAX takes the first that is there


def begin_jax() -> None:
    """Before JAX reads its environment."""
    if os.environ.get(MEETING) or _platform() == "tpu":
        when_imported("jax._src.clusters.cluster", _offer_cluster)
    if _platform() == "cuda":
        when_imported("jax._src.hardware_utils", _show_gpu)
    elif _platform() == "tpu":
        when_imported("jax._src.xla_bridge", _tell_process)


# ---- PyTorch/XLA ---------------------------------------------------------------------------------


def _chips(tpu) -> int:
    """Of one host."""
    count = 1
    for part in os.environ.get(CHIPS, "").split(","):
        if not part.isdigit():
            return int(os.environ.get(DEVICES) or 1) // tpu.num_logical_cores_per_chip()
        count *= int(part)
    return count


def _show_chips(tpu) -> None:
    tpu.num_available_chips = lambda: _chips(tpu)


class _ProcessForEach(concurrent.futures.Executor):
    """A pool that starts a process for each task."""

    def __init__(self, max_workers=None, mp_context=None):
        self._context, self._pools = mp_context, []

    def submit(self, function, /, *arguments, **named):
        pool = concurrent.futures.ProcessPoolExecutor(1, mp_context=self._context)
        self._pools.append(pool)
        return pool.submit(function, *arguments, **named)

    def shutdown(self, wait=True, **named):
        for pool in self._pools:
            pool.shutdown(wait=wait, **named)


def _start_each(pjrt) -> None:
    """torch_xla.launch gives a pool of processes a task for each chip and counts on each process to
    take one. TPUs see to that: their processes wait for each other. In a rehearsal nobody waits,
    and a process that is done early would take the chip of one that has not started yet."""
    futures = types.ModuleType("concurrent.futures")
    futures.__getattr__ = lambda name: getattr(concurrent.futures, name)
    futures.ProcessPoolExecutor = _ProcessForEach
    pjrt.concurrent = types.SimpleNamespace(futures=futures)


def begin_torch() -> None:
    """Before torch_xla is imported, which sets itself up for the chips that it finds."""
    if _platform() == "tpu":
        when_imported("torch_xla._internal.tpu", _show_chips)
        when_imported("torch_xla._internal.pjrt", _start_each)


def check_torch() -> None:
    """When torch_xla needs a device. It would abort the process."""
    if _platform() == "cuda":
        raise RuntimeError("PyTorch/XLA has had no GPUs since 2.9; rehearse it on a TPU or the "
                           "processor: --on v6e:2x4, --on cpu:4")


# ---- TorchTPU ------------------------------------------------------------------------------------

HOSTS = "TPU_HOST_BOUNDS"
PROCESS_BOUNDS, PROCESS_CHIPS = "TPU_PROCESS_BOUNDS", "TPU_CHIPS_PER_PROCESS_BOUNDS"
SLICE, ADDRESSES = "TORCH_TPU_TOPOLOGY", "TORCH_TPU_SLICEBUILDER_ADDRESSES"
FIRST_PORT = 8070  # of the addresses; TorchTPU's default, and nobody listens there in a rehearsal
GENERATIONS = {"v4": "_V4_TOPOLOGY", "v5p": "_V5P_TOPOLOGY", "v5e": "_V5E_TOPOLOGY",
               "v5litepod": "_V5E_TOPOLOGY", "v6e": "_V6E_TOPOLOGY", "v7": "_V7_TOPOLOGY",
               "tpu7x": "_V7_TOPOLOGY"}


def _show_tpus(hardware) -> None:
    """TorchTPU has a device only if it finds chips on the PCI bus; it takes from there, too, how many
    there are and of which generation, from which follow the properties of a device. The processor
    passes for a TPU v6e."""
    count = int(os.environ.get(DEVICES) or 1)
    generation = os.environ.get("KEEL_REHEARSE", "").partition(":")[0]
    kind = GENERATIONS.get(generation, "_V6E_TOPOLOGY")
    known = getattr(hardware, kind, {})
    hardware._scan_pci_tpus = lambda: (count, known)
    name = "TPU " + kind[1:].partition("_")[0].lower()
    hardware.get_tpu_device_name = lambda: name


def _slice() -> str:
    """The chips of the slice in each direction, as TorchTPU writes it: "2,2,1"."""
    hosts, each = (os.environ.get(name, "").split(",") for name in (HOSTS, CHIPS))
    if not all(part.isdigit() for part in (*hosts, *each)):
        return ""
    return ",".join(str(int(host) * int(chips)) for host, chips in zip(hosts, each))


def _become_rank() -> None:
    """A rank of TorchTPU has one chip of the slice, and libtpu's variables say so. TorchTPU sets them
    for its client only, and that is too late: the target is read when the library is loaded. What
    TorchTPU wants to know of the slice its own launcher sets; others leave it to the machine."""
    addresses = os.environ.get(ADDRESSES, "")
    count = addresses.count(",") + 1 if addresses else int(os.environ.get("WORLD_SIZE") or 1)
    slice_ = os.environ.get(SLICE) or _slice()
    if count < 2 or not slice_:
        return
    os.environ.setdefault(SLICE, slice_)
    os.environ.setdefault(ADDRESSES, ",".join(f"localhost:{FIRST_PORT + rank}" for rank in range(count)))
    os.environ[PROCESS_BOUNDS] = ",".join(slice_.replace("x", ",").split(",")[:3])
    os.environ[PROCESS_CHIPS] = "1,1,1"
    os.environ[PROCESSES] = str(count)
    if "RANK" in os.environ:
        os.environ[PROCESS] = os.environ["RANK"]
    _meet(count)


def _meet(count: int) -> None:
    """The folder in which ranks leave values for each other, one for each launch: what an earlier one
    left is not taken for theirs."""
    folder = os.environ.get(RANKS)
    if not folder or os.environ.get(MEETING):
        return
    if int(os.environ.get("LOCAL_WORLD_SIZE") or count) == count:
        launch = f"{os.getppid()}-{os.environ.get('TORCHELASTIC_RESTART_COUNT', 0)}"
        folder = os.path.join(folder, launch)
        os.makedirs(folder, mode=0o700, exist_ok=True)
    os.environ[MEETING] = folder


def begin_torch_tpu(stands_in: bool) -> None:
    """Before torch_tpu is imported, which `import torch` does by itself."""
    if _platform() == "tpu":
        _become_rank()
    if stands_in:
        when_imported("torch_tpu._internal.utils.hardware", _show_tpus)
