"""Puts Keel in front of the plugin that JAX or PyTorch/XLA would use by itself, under its own name.

`keel run` without --plugin cannot know which one that is, so it changes nothing that they read: a
program that sets its own environment, or a Python that ignores PYTHONPATH, runs as without Keel. If
JAX uses its CPU client, once it has found its plugins, the embedded plugin takes that client's place
under its name; if torch_xla would use its own, device LIBRARY takes its place.

JAX loads every plugin with jaxlib.xla_client.load_pjrt_plugin_dynamically(name, path), in any order,
before it makes a client of each; only then is it known which one is its default. PyTorch/XLA finds a
TPU's by TPU_LIBRARY_PATH, and asks a plugin's Python object for the path of any other.

A process has one door, because PJRT's functions carry no context. So Keel stands in front of one
plugin, the one that the client uses by default, and names the others.
"""

import copy
import glob
import importlib.util
import os
import sys
from typing import Any, Dict, List, Optional, Sequence, Set

from . import own_client, own_cpu
from ._imports import when_imported
from ._library import NAME, library_path, name_kind, offer, wrap

OURS = "keel"
CPU = "cpu"
FOUND = "KEEL_FOUND_PLUGIN"  # set by `keel run`, unless it was given a plugin
KEPT = "KEEL_JAX_CPU"  # which client serves JAX on the processor
OWN = "own"
DEVICES, FORCED = "KEEL_CPU_DEVICES", "xla_force_host_platform_device_count"
REHEARSED = "KEEL_REHEARSE_PLATFORM"
REGISTERED = "PJRT_NAMES_AND_LIBRARY_PATHS"
ALIASES = {"gpu": ("cuda", "rocm", "oneapi")}

EMBEDDED = "the embedded CPU plugin"

# ---- JAX -----------------------------------------------------------------------------------------

_front: Optional[str] = None  # the name of the plugin behind Keel; once set, it stays
_plugin = ""  # that plugin; "" for the embedded one
_offered: Dict[str, str] = {}  # those that JAX has loaded and that Keel could stand in front of
_stands = False  # whether Keel can stand behind JAX's own client
_waits = False  # whether JAX will tell which one it uses
_default: Optional[str] = None  # that one
_left: Set[str] = set()  # those that run without Keel


def serves() -> bool:
    """Whether `keel run` was given no plugin, so that this module chooses."""
    return FOUND in os.environ


def _platforms() -> str:
    import jax
    return jax.config.jax_platforms or ""


def _is_present(name: str) -> bool:
    """JAX skips CUDA without a GPU and a TPU without its chips, and says nothing. Any other plugin
    that is registered is used, or JAX fails."""
    try:
        from jax._src import hardware_utils
        if name == "cuda":
            return hardware_utils.has_visible_nvidia_gpu()
        if name == "tpu":  # one that is rehearsed has no chips here
            return os.environ.get(REHEARSED) == "tpu" or hardware_utils.num_available_tpu_chips_and_device_id()[0] > 0
    except (ImportError, AttributeError, OSError):
        pass
    return True


def _asked() -> List[Sequence[str]]:
    """The platforms that were asked for, the one that serves by default first, each with all names
    that it may have."""
    return [ALIASES.get(name, (name,)) for name in _platforms().split(",") if name]


def _is_wanted(name: str, plugin: str) -> bool:
    asked = _asked()
    if not _is_present(name) or not asked:
        return _is_present(name)
    first = next(names for names in (*asked, (name,)) if any(map(_is_present, names)))
    if name not in first and any(name in names for names in asked):
        _left.add(name)
        sys.stderr.write(f"keel: {name}: {plugin} runs without Keel, because JAX prefers "
                         f"{first[0]}\n")
    return name in first and any(name in names for names in asked)


def _or(otherwise, ask, *arguments):
    """What `ask` returns. It depends on parts of clients that may change, and no program may fail
    because of that."""
    try:
        return ask(*arguments)
    except Exception as error:
        sys.stderr.write(f"keel: {type(error).__name__}: {error}; the program runs without Keel\n")
        return otherwise


def _stand_in_front(xla_client) -> None:
    load = getattr(xla_client, "load_pjrt_plugin_dynamically", None)
    if load is None:
        return

    def through_keel(plugin_name, library_path, *rest, **named):
        if _or(False, _is_wanted, plugin_name, library_path):
            library_path = _or(library_path, _load, plugin_name, library_path)
        return load(plugin_name, library_path, *rest, **named)

    through_keel.__wrapped__ = load
    xla_client.load_pjrt_plugin_dynamically = through_keel
    make = getattr(xla_client, "make_c_api_client", None)
    if make is None:
        return

    def of_the_default(plugin_name, *rest, **named):
        if plugin_name in _offered:  # JAX's own ways have settled that before
            _or(None, _settle, plugin_name)
        return make(plugin_name, *rest, **named)

    of_the_default.__wrapped__ = make
    xla_client.make_c_api_client = of_the_default


def _door_to(plugin: str) -> Optional[str]:
    """What a client could load instead of this plugin; None if Keel has nothing to do with it."""
    try:
        door = library_path()
    except FileNotFoundError:
        return None
    # A name without a folder is for the loader to find.
    if os.sep not in plugin or not os.path.exists(plugin) or os.path.samefile(plugin, door):
        return None
    return door


def runs_without(client: Any) -> bool:
    """Whether JAX's client is of a plugin that this module left alone."""
    from jax._src import xla_bridge
    names = [name for name, known in xla_bridge._backends.items() if known is client]
    return any(name in _left for name in names)


def _leave(name: str, plugin: str) -> None:
    _left.add(name)
    sys.stderr.write(f"keel: {name}: {plugin} runs without Keel, which stands in front of {_front} "
                     "in this process\n")


def _take(name: str, plugin: str) -> bool:
    """Puts Keel in front of this plugin for good; False if it cannot be."""
    global _front, _plugin
    if _front is None and plugin and not wrap(plugin):
        return False
    if _front is None:
        _front, _plugin = name, plugin
    return _plugin == plugin


def _door(name: str, plugin: str) -> str:
    """What a client that uses this plugin loads instead; the plugin itself if Keel cannot wrap it."""
    door = _door_to(plugin)
    if door and _take(name, plugin):
        return door
    if door and _front:
        _leave(name, plugin)
    return plugin


def _load(name: str, plugin: str) -> str:
    """What JAX loads instead of this plugin, one of several that it may use."""
    if _front or name == _default or not _waits:
        plugin = _door(name, plugin)
        _name_the_others()
        return plugin
    door = _door_to(plugin)
    if door is None or not offer(plugin):
        return plugin
    _offered[name] = plugin
    return door


def _settle(default: Optional[str]) -> None:
    """JAX has its plugins and uses this one."""
    global _default
    _default = default
    if default in _offered:
        _take(default, _offered[default])
    elif default == OURS:
        _take(EMBEDDED, "")
    _name_the_others()


def _name_the_others() -> None:
    if _front is None:
        return
    for name, plugin in _offered.items():
        if plugin != _plugin:
            _leave(name, plugin)
    _offered.clear()


def _entries(text: str) -> List[str]:
    return [part for part in text.split(",") if part and part.split(os.pathsep)[0] != OURS]


def _has_libtpu(xla_bridge) -> bool:
    path = getattr(xla_bridge, "get_tpu_library_path", lambda: None)
    return _is_present("tpu") and bool(path())


def _find_default(xla_bridge) -> Optional[str]:
    """The platform that JAX will use, of all that it knows by now."""
    factories = getattr(xla_bridge, "_backend_factories", {})
    usable = [name for name in factories
              if (_has_libtpu(xla_bridge) if name == "tpu" else _is_present(name))]
    if _platforms():
        return next((name for names in _asked() for name in names if name in usable), None)
    return max(usable, key=lambda name: factories[name].priority, default=None)  # of equals the first


def _is_distributed() -> bool:
    from jax._src import distributed
    return distributed.global_state.client is not None


def _leave_processes() -> None:
    sys.stderr.write("keel: cpu: JAX's own client runs without Keel, because the embedded CPU plugin "
                     "does not work across processes\n")


def _make_cpu(xla_bridge, make_own):
    """The client of the embedded plugin, in the place of JAX's own."""
    if _is_distributed():
        _leave_processes()
        return make_own()
    try:
        return own_cpu.make(xla_bridge, make_own, lambda: xla_bridge.make_pjrt_c_api_client(OURS))
    except Exception as error:
        sys.stderr.write(f"keel: cpu: {error}; JAX's own client runs without Keel\n")
        return make_own()


def _stand_behind(make_own):
    client = make_own()
    try:
        own_client.begin(client)
    except Exception as error:
        sys.stderr.write(f"keel: cpu: {type(error).__name__}: {error}; JAX's own client runs without "
                         "Keel\n")
    return client


def _keeps_cpu() -> bool:
    return REHEARSED not in os.environ and os.environ.get(KEPT, OWN) == OWN


def _ask_for_devices() -> None:
    """As many as Keel's setting says, if the program asks for no number."""
    import jax
    wanted, flags = os.environ.get(DEVICES, ""), os.environ.get("XLA_FLAGS", "")
    if wanted.isdigit() and getattr(jax.config, "jax_num_cpu_devices", 0) < 0 and FORCED not in flags:
        jax.config.update("jax_num_cpu_devices", int(wanted))


def _stands_behind_cpu(xla_bridge) -> None:
    """Puts Keel behind JAX's own CPU client, as soon as there is one."""
    _ask_for_devices()
    own = xla_bridge._backend_factories[CPU]
    behind = copy.copy(own)
    behind.factory = lambda: _stand_behind(own.factory)
    xla_bridge._backend_factories[CPU] = behind


def _serves_as_cpu(xla_bridge) -> bool:
    """Puts the embedded plugin in the place of JAX's CPU client, so that its devices are those that
    the program gets for `cpu` too: arrays of two clients cannot be used together."""
    from jaxlib import xla_client
    try:
        door = library_path()
    except FileNotFoundError:
        return False
    if _front not in (None, EMBEDDED):
        _leave(CPU, "JAX's own client")
        return False
    if _is_distributed():
        _leave_processes()
        return False
    load = xla_client.load_pjrt_plugin_dynamically
    own = xla_bridge._backend_factories[CPU]
    ours = copy.copy(own)
    ours.factory = lambda: _make_cpu(xla_bridge, own.factory)
    # For what JAX tells every plugin, such as how programs are partitioned.
    ours.c_api = getattr(load, "__wrapped__", load)(OURS, door)
    xla_bridge._backend_factories[CPU] = ours
    return True


def _serves_as_cpu_too(xla_bridge) -> None:
    """Where the processor is rehearsed: in the real run, Keel's client takes the place of JAX's own."""
    own = xla_bridge._backend_factories[CPU]
    ours = copy.copy(own)
    ours.factory = lambda: own_cpu.make(
        xla_bridge, own.factory,
        lambda: xla_bridge._backends.get(OURS) or xla_bridge.make_pjrt_c_api_client(OURS))
    xla_bridge._backend_factories[CPU] = ours


def _choose_default(xla_bridge) -> None:
    default = _find_default(xla_bridge)
    if os.environ.get(REHEARSED) == CPU:
        _serves_as_cpu_too(xla_bridge)
        default = OURS
    elif default == CPU and _keeps_cpu():
        if _stands:  # otherwise, it was said
            _stands_behind_cpu(xla_bridge)
    elif default == CPU and _serves_as_cpu(xla_bridge):
        default = OURS
    _settle(default)


def _decide(xla_bridge) -> None:
    """Right after JAX asked the packages of plugins to register theirs, and before it reads which
    other ones are listed."""
    register = getattr(xla_bridge, "register_pjrt_plugin_factories_from_env", None)
    if register is None:
        return

    def register_and_decide():
        listed = os.environ.get(REGISTERED)
        door = _or(None, library_path) if OURS in _platforms().split(",") else None
        if door:
            ours = OURS + os.pathsep + door
            os.environ[REGISTERED] = ",".join([*_entries(listed or ""), ours])
        try:
            register()
        finally:
            if listed is None:
                os.environ.pop(REGISTERED, None)
            else:
                os.environ[REGISTERED] = listed
        _or(None, _choose_default, xla_bridge)

    global _waits
    _waits = True
    register_and_decide.__wrapped__ = register
    xla_bridge.register_pjrt_plugin_factories_from_env = register_and_decide


def begin_jax() -> None:
    """Before JAX reads its environment."""
    if not serves():
        return
    global _stands
    if _keeps_cpu():
        _stands = _or(False, own_client.prepare)
    when_imported("jaxlib.xla_client", _stand_in_front)
    when_imported("jax._src.xla_bridge", _decide)


# ---- PyTorch/XLA ---------------------------------------------------------------------------------

DEVICE = "PJRT_DEVICE"
LIBRARY = "PJRT_LIBRARY_PATH"  # of the device LIBRARY
TPU_LIBRARY = "TPU_LIBRARY_PATH"
THREADS = "XLA_THREAD_POOL_SIZE"


def _has_tpu() -> bool:
    """Whether torch_xla would find a TPU: Google's vendor number on the PCI bus."""
    for path in glob.glob("/sys/bus/pci/devices/*/vendor"):
        try:
            with open(path) as vendor:
                if vendor.read().strip() == "0x1ae0":
                    return _libtpu() is not None
        except OSError:
            pass
    return False


def _libtpu(places=(("torch_xla", "lib/libtpu.so"), ("libtpu", "libtpu.so"))) -> Optional[str]:
    named = os.environ.get(TPU_LIBRARY)
    if named and os.path.basename(named) != NAME:
        return named
    for package, file in places:
        spec = importlib.util.find_spec(package)
        for folder in spec and spec.submodule_search_locations or ():
            path = os.path.join(folder, file)
            if os.path.isfile(path):
                return path
    return None


def _device() -> Optional[str]:
    """The device that torch_xla is set to use, or the one that it would choose; None if it was
    told not to choose."""
    device = os.environ.get(DEVICE)
    if device is not None or os.environ.get("PJRT_SELECT_DEFAULT_DEVICE") == "0":
        return device
    if _has_tpu():
        return "TPU"
    return "NEURON" if importlib.util.find_spec("libneuronxla") else "CPU"


def _wrap_registered(device: str, plugins) -> None:
    register = plugins.register_plugin

    def through_keel(name, device_plugin):
        if name.upper() == device.upper():
            find = device_plugin.library_path  # it may fail, which torch_xla is to see when it asks

            def library() -> str:
                path = find()
                return _or(path, _door, name, path)

            device_plugin.library_path = library
        register(name, device_plugin)

    through_keel.__wrapped__ = register
    plugins.register_plugin = through_keel


def _choose_device() -> None:
    device, given = _device(), os.environ.get(LIBRARY)
    if device == "TPU":
        library = _libtpu()
        if library:
            os.environ[TPU_LIBRARY] = _door(device, library)
    elif device == "LIBRARY" and given:
        os.environ[LIBRARY] = _door(device, given)
    elif device in ("CPU", "LIBRARY", "KEEL"):
        if _take(EMBEDDED, ""):
            os.environ.update({LIBRARY: library_path(), DEVICE: "LIBRARY"})
        else:
            _leave(device, "torch_xla's own client")
    elif device:
        when_imported("torch_xla.experimental.plugins",
                      lambda plugins: _wrap_registered(device, plugins))


def begin_torch() -> None:
    """Before torch_xla is imported, which chooses a device if none is named."""
    if serves():
        _or(None, _choose_device)
    # torch_xla executes on as many threads as there are cores, and with replica threads each of its
    # executions waits there for those of the other devices.
    if os.environ.get(DEVICE) == "LIBRARY":
        os.environ.setdefault(THREADS, str(max(os.cpu_count() or 1, 16)))


# ---- TorchTPU ------------------------------------------------------------------------------------

LINES = "XLA_IR_DEBUG"  # set by `keel run --lines`


def _choose_for_torch_tpu(has_tpu: bool) -> None:
    library = _libtpu((("libtpu", "libtpu.so"),))
    if has_tpu and library:
        os.environ[TPU_LIBRARY] = _door("tpu", library)
    elif not has_tpu and _take(EMBEDDED, ""):
        os.environ[TPU_LIBRARY] = library_path()


def _keep_lines(compiler) -> None:
    """Of operations that run by themselves; in graphs they are always there."""
    push = getattr(getattr(compiler, "tpu_torch_compile", None), "push_enable_tracebacks", None)
    if push:
        push(True)


def begin_torch_tpu() -> bool:
    """Before torch_tpu is imported, which loads the library that TPU_LIBRARY_PATH names. Returns whether
    something else stands in for the TPU, because the machine has none: the plugin that `keel run` was
    given, or XLA's CPU plugin, on which TorchTPU computes just as well."""
    if os.environ.get(LINES) == "1":
        when_imported("torch_tpu._internal.compile.compiler", _keep_lines)
    has_tpu = _or(True, _has_tpu)
    if serves():
        _or(None, _choose_for_torch_tpu, has_tpu)
    elif not has_tpu:
        os.environ[TPU_LIBRARY] = library_path()
    stands_in = not has_tpu and os.environ.get(TPU_LIBRARY, "") == library_path()
    if stands_in:
        name_kind("device")
    return stands_in
