"""Has as many devices on platform `keel` as JAX's own setting jax_num_cpu_devices asks for, which JAX
gives only to its own CPU client."""

from . import _imports, _library

NAME = "keel"


def _ask() -> None:
    import jax
    _library.ask_devices(getattr(jax.config, "jax_num_cpu_devices", -1))


def _listen(xla_client) -> None:
    make = getattr(xla_client, "make_c_api_client", None)
    if make is None:
        return

    def asking(plugin_name, *rest, **named):
        if plugin_name == NAME:
            _ask()
        return make(plugin_name, *rest, **named)

    asking.__wrapped__ = make
    xla_client.make_c_api_client = asking


def begin() -> None:
    _imports.when_imported("jaxlib.xla_client", _listen)
