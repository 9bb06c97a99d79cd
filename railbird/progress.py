"""A progress bar on stderr, for long work watched by a person."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Bar:
    """A progress bar on stderr, if that is a terminal; rate and time left."""

    def __init__(self, on: bool) -> None:
        console = Console(stderr=True)
        self._on = on and console.is_terminal
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]:.0f} frames/s"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not self._on,
        )

    @contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Callable[[], None]]:
        """Count steps of a stage: call what this gives once a frame."""
        began, done = time.perf_counter(), 0
        with self._progress as progress:
            task = progress.add_task(name, total=total, rate=0.0)

            def step() -> None:
                nonlocal done
                done += 1
                if self._on and done % 10 == 0:
                    progress.update(task, completed=done, rate=done / (time.perf_counter() - began + 1e-6))

            yield step
