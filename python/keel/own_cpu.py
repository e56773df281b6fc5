"""What JAX's own CPU client still does once the embedded plugin has taken its place: it tells what the
devices are called, takes arrays of other libraries that have to be copied, and computes for host
callbacks. Behind jaxlib's C API no plugin can copy in that way, and while a callback runs, the
embedded plugin may execute and transfer nothing else: what a callback asked it for would never come."""

from typing import Any

from . import callbacks
from ._library import name_devices

TAKE = "dlpack_managed_tensor_to_buffer"
REFUSAL = "does not support HostBufferSemantics"


def _take_names(own: Any) -> None:
    """cpu:0, or TFRT_CPU_0 in older versions of JAX."""
    name = str(own.devices()[0])
    if name.endswith("0"):
        name_devices(name[:-1])


def _copy_for(client: Any, own: Any) -> None:
    from jaxlib import xla_client
    module = getattr(xla_client, "_xla", None)
    take = getattr(module, TAKE, None)
    if take is None:
        return

    def through_own(capsule, device, *rest, **named):
        try:
            return take(capsule, device, *rest, **named)
        except xla_client.XlaRuntimeError as error:
            if getattr(device, "client", None) is not client or REFUSAL not in str(error):
                raise
        import jax
        import numpy
        taken = take(capsule, own.devices()[0], *rest, **named)
        return jax.device_put(numpy.asarray(taken), device)

    through_own.__wrapped__ = take
    setattr(module, TAKE, through_own)


def _compute_for_callbacks(xla_bridge: Any, own: Any) -> None:
    """JAX asks for these devices whenever a callback is called."""
    local_devices = xla_bridge.local_devices

    def in_callbacks(*arguments, **named):
        if callbacks.is_within() and named == {"backend": "cpu"}:
            return own.local_devices()
        return local_devices(*arguments, **named)

    in_callbacks.__wrapped__ = local_devices
    xla_bridge.local_devices = in_callbacks


def make(xla_bridge: Any, make_own: Any, make_plugins: Any) -> Any:
    """The plugin's client."""
    own = make_own()
    _take_names(own)
    client = make_plugins()
    _copy_for(client, own)
    _compute_for_callbacks(xla_bridge, own)
    return client
