"""A recording's observations to shots with events, numbers given over the whole of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from calibration.table import Table
from tracking.live import Between, Recorder
from tracking.observations import Observation
from tracking.shots import RawShot, SeenShot, name_shot


@dataclass(frozen=True, slots=True)
class Analysis:
    """Shots in order, what moved between them, and the numbers of all tracks with how sure they are."""

    shots: list[SeenShot]
    between: list[Between] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    identity_p: dict[int, float] = field(default_factory=dict)


def analyse(observations: Iterable[Observation], table: Table, *, game_balls: Iterable[int] | None = None) -> Analysis:
    """Read a recording.

    Parameters
    ----------
    observations : in order of time; at rest a few a second are enough.
    table : geometry.
    game_balls : numbers that may be on the table (9-ball: 0 … 9); None: any.
    """
    recorder = Recorder(table, recording=True)
    raws: list[RawShot] = []
    for seen in observations:
        raws += recorder.push(seen)
    raws += recorder.flush()
    names = recorder.identities(None if game_balls is None else list(game_balls))
    shots = [name_shot(raw, k + 1, names.number, names.p, table) for k, raw in enumerate(raws)]
    return Analysis(shots, recorder.between, names.number, names.p)
