# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What pytest loads: the fixture and the marker `nodewise_lab`, and their options."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from .errors import LabError, LabUnavailable
from .machine import Machine
from .traffic import Traffic

_MARKER = "nodewise_lab"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("nodewise", "programs on virtual NUMA machines")
    group.addoption(
        "--nodewise", metavar="FILE", default=os.environ.get("NODEWISE", "nodewise"),
        help="run this nodewise command (default: the variable NODEWISE, else nodewise in PATH)",
    )  # fmt: skip
    group.addoption(
        "--nodewise-lab-required", action="store_true",
        help="fail tests for which the lab cannot run (default: skip them)",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{_MARKER}(machine): run on this machine of the lab, such as '4x2'; skip if the lab cannot run"
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    if name := _marked(item):
        with _skipping(item.config):
            Machine(name, item.config.getoption("--nodewise")).require()


class Lab:
    """The fixture: `nodewise_lab("4x2").run(["./app"])`, or `nodewise_lab.run(["./app"])` on the marker's machine."""

    def __init__(self, config: pytest.Config, marked: str | None):
        self._config = config
        self._marked = marked

    def __call__(self, machine: str) -> "_SkippingMachine":
        return _SkippingMachine(machine, self._config)

    @property
    def run(self) -> Callable[..., Traffic]:
        __tracebackhide__ = True
        if self._marked is None:
            hint = f'write nodewise_lab("4x2").run(...), or add @pytest.mark.{_MARKER}("4x2")'
            raise LabError("nodewise_lab.run()", "the test names no machine", hint)
        return self(self._marked).run


class _SkippingMachine(Machine):
    def __init__(self, name: str, config: pytest.Config):
        super().__init__(name, config.getoption("--nodewise"))
        self._config = config

    def run(self, *arguments: object, **options: object) -> Traffic:
        __tracebackhide__ = True
        with _skipping(self._config):
            return super().run(*arguments, **options)


@pytest.fixture
def nodewise_lab(request: pytest.FixtureRequest) -> Lab:
    """Machines of Nodewise's lab: nodewise_lab("4x2").run(["./app"]).remote("array")."""
    return Lab(request.config, _marked(request.node))


def _marked(item: pytest.Item) -> str | None:
    """The machine of the closest marker, if there is one."""
    marker = item.get_closest_marker(_MARKER)
    if marker is None:
        return None
    if len(marker.args) != 1 or marker.kwargs or not isinstance(marker.args[0], str):
        raise LabError(f"the marker {_MARKER}", "it takes one machine", f'write @pytest.mark.{_MARKER}("4x2")')
    return marker.args[0]


@contextmanager
def _skipping(config: pytest.Config) -> Iterator[None]:
    """Skips the test if the lab cannot run, unless it is required."""
    __tracebackhide__ = True
    try:
        yield
    except LabUnavailable as error:
        if config.getoption("--nodewise-lab-required"):
            raise
        pytest.skip(str(error))
