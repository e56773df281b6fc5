"""Holds tests to a contract: a test that asks for a program which the contract does not allow fails, with
the cause and the line.

    keel run -- pytest -p keel.pytest_plugin --keel-contract keel.contract     # all tests

    def test_step(keel_contract):                                              # this one
        with keel_contract("keel.contract"):
            train_step(state, batch)

If the wheel of keel is installed, pytest finds this plugin by itself. Only programs that are asked for
inside are looked at: what JAX has compiled in the process before, it does not ask for again.
"""

import pytest

from ._library import contract


def pytest_addoption(parser):
    group = parser.getgroup("keel")
    group.addoption("--keel-contract", metavar="FILE",
                    help="fail tests that ask for programs which this contract does not allow")


@pytest.fixture
def keel_contract():
    """keel.contract: a function that holds what is inside its `with` to a contract."""
    return contract


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    path = item.config.getoption("--keel-contract")
    if not path:
        yield
        return
    with contract(path):
        yield


def pytest_configure(config):
    path = config.getoption("--keel-contract")
    if not path:
        return
    try:
        with contract(path):
            pass
    except (RuntimeError, ValueError) as error:
        raise pytest.UsageError(str(error)) from None
