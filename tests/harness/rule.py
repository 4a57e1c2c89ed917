"""Checks of the protocol rules: plain functions, so that the tests and the conformance grid run the very same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from harness.delivery import DELIVERIES, Delivery
from harness.site import Listens, Site


@dataclass(frozen=True)
class Check:
    """One check of a rule.

    `run` takes a Site, and one of `inputs` when there are any, and raises when the rule is broken. `keeps` is the row of the
    grid. A check that cuts its bytes itself is `cut` only one way. `hurried` are flags that shorten the deadlines it waits
    for, so that the tests need not wait for the defaults as the grid does.
    """

    number: int
    keeps: str
    run: Callable[..., None]
    app: str
    inputs: Sequence[Any]
    cut: Sequence[str]
    hurried: Sequence[str]

    def attempts(self) -> Iterator[tuple[str, Attempt]]:
        """Every input in every delivery, with a name for it."""
        for delivery in self.cut:
            if not self.inputs:
                yield f"{self.keeps} ({delivery})", Attempt(self, DELIVERIES[delivery], ())
            for value in self.inputs:
                yield f"{self.keeps} ({delivery}): {shown(value)}", Attempt(self, DELIVERIES[delivery], (value,))


@dataclass(frozen=True)
class Attempt:
    """A check with one input and one delivery."""

    check: Check
    delivery: Delivery
    arguments: tuple[Any, ...]

    def against(self, server: Listens, timeout: float = 5.0) -> None:
        """Runs it; raises AssertionError or OSError when the rule is broken."""
        self.check.run(Site(server, self.delivery, timeout), *self.arguments)


def rule(
    number: int,
    keeps: str,
    *,
    app: str = "echo:app",
    inputs: Sequence[Any] = (),
    cut: Sequence[str] = tuple(DELIVERIES),
    hurried: Sequence[str] = (),
) -> Callable[[Callable[..., None]], Check]:
    """Makes the function below a check of that rule; see Check."""

    def make(run: Callable[..., None]) -> Check:
        return Check(number, keeps, run, app, inputs, cut, hurried)

    return make


def checks_of(module: ModuleType) -> list[Check]:
    """The checks a module defines, in its order."""
    return [value for value in vars(module).values() if isinstance(value, Check)]


def shown(value: Any) -> str:
    """A short printable name of an input."""
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:40]}... {len(text)}"
