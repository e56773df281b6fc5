"""Puts Keel in front of the plugin that JAX or PyTorch/XLA would use by itself, under its own name.

`keel run` without --plugin cannot know which one that is, so it asks for the embedded CPU plugin
(platform `keel`), and leaves what the user asked for in KEEL_JAX_PLATFORMS. JAX gets the latter here.
Platform `keel` stays only if JAX would have used its CPU client, once it has found its plugins.

JAX loads every plugin with jaxlib.xla_client.load_pjrt_plugin_dynamically(name, path). PyTorch/XLA
finds a TPU's by TPU_LIBRARY_PATH, and asks a plugin's Python object for the path of any other.
"""

import glob
import importlib.util
import os
import sys
from typing import List, Optional

from ._imports import when_imported
from ._library import NAME, library_path, wrap

OURS = "keel"
USERS = "KEEL_JAX_PLATFORMS"  # set by `keel run`; absent if it was given a plugin
PLATFORMS = "JAX_PLATFORMS"
ASKED = "keel,cpu"  # what `keel run` asks for, unless the user asked for something else
REGISTERED = "PJRT_NAMES_AND_LIBRARY_PATHS"
OF_JAX = ("cpu", "tpu", "proxy", "interpreter", OURS)  # not from a package of plugins
ALIASES = {"gpu": ("cuda", "rocm", "oneapi")}

# ---- JAX -----------------------------------------------------------------------------------------

_front: Optional[str] = None  # the plugin behind Keel


def _users() -> List[str]:
    names: List[str] = []
    for name in os.environ.get(USERS, "").split(","):
        names.extend(ALIASES.get(name, (name,) if name else ()))
    return names


def _is_present(name: str) -> bool:
    """JAX skips CUDA without a GPU and a TPU without its chips, and says nothing. Any other plugin
    that is registered is used, or JAX fails."""
    try:
        from jax._src import hardware_utils
        if name == "cuda":
            return hardware_utils.has_visible_nvidia_gpu()
        if name == "tpu":
            return hardware_utils.num_available_tpu_chips_and_device_id()[0] > 0
    except (ImportError, AttributeError, OSError):
        pass
    return True


def _is_wanted(name: str) -> bool:
    users = _users()
    return name in users if users else _is_present(name)


def _stand_in_front(xla_client) -> None:
    load = xla_client.load_pjrt_plugin_dynamically

    def through_keel(plugin_name, library, *rest, **named):
        door = _door(plugin_name, library) if _is_wanted(plugin_name) else library
        return load(plugin_name, door, *rest, **named)

    through_keel.__wrapped__ = load
    xla_client.load_pjrt_plugin_dynamically = through_keel


def _door(name: str, plugin: str) -> str:
    """What a client loads instead of this plugin; the plugin itself if Keel cannot wrap it."""
    global _front
    try:
        door = library_path()
    except FileNotFoundError:
        return plugin
    if not os.path.exists(plugin) or os.path.samefile(plugin, door):
        return plugin
    if wrap(plugin):
        _front = name
        return door
    sys.stderr.write(f"keel: {name}: {plugin} runs without Keel, which stands in front of "
                     f"{_front or 'the embedded CPU plugin'} in this process\n")
    return plugin


def _entries(text: str) -> List[str]:
    return [part for part in text.split(",") if part and part.split(os.pathsep)[0] != OURS]


def _finds_another(xla_bridge) -> bool:
    """Whether JAX has a plugin that it would use instead of its CPU client."""
    if _entries(os.environ.get(REGISTERED, "")):
        return True
    factories = getattr(xla_bridge, "_backend_factories", {})
    if any(name not in OF_JAX and registered.priority > 0 and _is_present(name)
           for name, registered in factories.items()):
        return True
    path = getattr(xla_bridge, "get_tpu_library_path", lambda: None)
    return "tpu" in factories and _is_present("tpu") and bool(path())


def _is_cpu(xla_bridge) -> bool:
    """Whether JAX would use its CPU client, and only because of its environment: a script that asks
    for the CPU itself gets JAX's own."""
    import jax
    current = jax.config.jax_platforms or ""
    if current != os.environ[USERS]:
        return False
    return current.split(",")[0] == "cpu" or not current and not _finds_another(xla_bridge)


def _decide(xla_bridge) -> None:
    """Right after JAX asked the packages of plugins to register theirs, and before it reads which
    other ones are listed."""
    register = xla_bridge.register_pjrt_plugin_factories_from_env

    def register_and_decide():
        import jax
        listed = os.environ.get(REGISTERED, "")
        if _is_cpu(xla_bridge):
            # If it chooses by itself, JAX prefers any plugin to its CPU client.
            if jax.config.jax_platforms:
                jax.config.update("jax_platforms", ASKED)
        elif OURS not in (jax.config.jax_platforms or "").split(","):
            os.environ[REGISTERED] = ",".join(_entries(listed))
        try:
            register()
        finally:
            os.environ[REGISTERED] = listed

    register_and_decide.__wrapped__ = register
    xla_bridge.register_pjrt_plugin_factories_from_env = register_and_decide


def begin_jax() -> None:
    """Before JAX reads its environment. Processes that this one starts have `keel run`'s again."""
    users = os.environ.get(USERS)
    if users is None:
        return
    when_imported("jaxlib.xla_client", _stand_in_front)
    if os.environ.get(PLATFORMS) != ASKED:
        return
    os.environ[PLATFORMS] = users

    def restore(_) -> None:
        os.environ[PLATFORMS] = ASKED

    when_imported("jax._src.config", restore)
    when_imported("jax._src.xla_bridge", _decide)


# ---- PyTorch/XLA ---------------------------------------------------------------------------------

DEVICE = "PJRT_DEVICE"
USERS_DEVICE = "KEEL_PJRT_DEVICE"
TPU_LIBRARY = "TPU_LIBRARY_PATH"


def _has_tpu() -> bool:
    """Whether torch_xla would choose a TPU by itself: Google's vendor number on the PCI bus."""
    for path in glob.glob("/sys/bus/pci/devices/*/vendor"):
        try:
            with open(path) as vendor:
                if vendor.read().strip() == "0x1ae0" and _libtpu():
                    return True
        except OSError:
            pass
    return False


def _libtpu() -> Optional[str]:
    named = os.environ.get(TPU_LIBRARY)
    if named and os.path.basename(named) != NAME:
        return named
    for package, file in (("torch_xla", "lib/libtpu.so"), ("libtpu", "libtpu.so")):
        spec = importlib.util.find_spec(package)
        for folder in spec and spec.submodule_search_locations or ():
            path = os.path.join(folder, file)
            if os.path.isfile(path):
                return path
    return None


def _wrap_registered(plugins) -> None:
    register = plugins.register_plugin

    def through_keel(name, device_plugin):
        if name.upper() == os.environ.get(DEVICE, "").upper():
            door = _door(name, device_plugin.library_path())
            device_plugin.library_path = lambda: door
        register(name, device_plugin)

    through_keel.__wrapped__ = register
    plugins.register_plugin = through_keel


def begin_torch() -> None:
    """Before torch_xla is imported, which chooses a device if none is named."""
    users = os.environ.get(USERS_DEVICE)
    if users is None:
        return
    if not users and os.environ.get(DEVICE) == "LIBRARY" and _has_tpu():
        os.environ[DEVICE] = "TPU"
    device, library = os.environ.get(DEVICE), _libtpu()
    if device == "TPU" and library:
        os.environ[TPU_LIBRARY] = _door(device, library)
    elif device not in (None, "TPU", "CPU", "LIBRARY", "KEEL"):
        when_imported("torch_xla.experimental.plugins", _wrap_registered)
