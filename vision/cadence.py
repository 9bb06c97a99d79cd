"""The clock of the pictures in a file that shows some of them more than once.

A 60 frames/s file that holds 25 pictures a second shows each two or three times; the first showing comes up to one
file frame after the picture was taken, unevenly. Where the pictures fit an even clock, that clock is the better one: at
60 frames/s the jitter is worth 17 ms, five times the error allowed for an event.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

PICTURE_RATES = (12.0, 12.5, 15.0, 20.0, 23.976, 24.0, 25.0, 29.97, 30.0, 48.0, 50.0)
LEAST_REPEATS = 8
FIT_SHARE = 0.9
TIMESTAMP_SLACK_S = 0.0012  # containers round to milliseconds


@dataclass(frozen=True, slots=True)
class Cadence:
    """An even clock of pictures: picture ``k`` was taken at ``origin + k / rate`` seconds.

    ``offset`` puts the mean of the corrected times where the mean of the stream's own times is.
    """

    rate: float
    origin: float
    offset: float

    def number(self, t_s: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """(n,) which picture is shown for the first time at ``t_s``."""
        # Rounded about the middle of the first showings, so that a clock a few ms off counts no picture wrongly.
        shown = np.asarray(t_s, dtype=np.float64) - self.origin - self.offset
        return np.rint(shown * self.rate).astype(np.int64)

    def corrected(self, t_s: npt.ArrayLike) -> Floats:
        """(n,) seconds at which the pictures first shown at ``t_s`` were taken."""
        return np.asarray(self.origin + self.number(t_s) / self.rate + self.offset, dtype=np.float64)


def find_cadence(times: npt.ArrayLike, repeats: npt.ArrayLike) -> Cadence | None:
    """The even clock of a stream's pictures; None where there is none or nothing is repeated.

    Parameters
    ----------
    times : (n,) the stream's timestamps, seconds.
    repeats : (n,) True where the frame shows the picture before once more.
    """
    t = np.asarray(times, dtype=np.float64)
    again = np.asarray(repeats, dtype=bool)
    if len(t) < 20 or again.sum() < LEAST_REPEATS:
        return None
    step = float(np.median(np.diff(t)))
    file_rate = 1 / step
    # Only frames next to a repeat are surely in motion; in still stretches repeats cannot be told.
    lively = np.convolve(again, np.ones(9), mode="same") > 0
    fresh = t[lively & ~again]
    share = len(fresh) / max(1, int(lively.sum()))
    best: tuple[float, Cadence] | None = None
    for rate in PICTURE_RATES:
        if rate > 0.97 * file_rate or abs(rate / file_rate - share) > 0.12:
            continue
        # Each picture's first showing lies less than one file frame after it was taken.
        phase = np.sort((fresh * rate) % 1.0) / rate
        window = step + TIMESTAMP_SLACK_S
        wrapped = np.concatenate([phase, phase + 1 / rate])
        counts = np.searchsorted(wrapped, phase + window, side="right") - np.arange(len(phase))
        k = int(np.argmax(counts))
        inside = counts[k] / len(fresh)
        candidate = Cadence(rate, float(phase[k]), step / 2)
        # Within a stretch of motion the pictures count up by one: a rate too high skips, one too low shows twice.
        steps = np.diff(candidate.number(fresh))[np.diff(fresh) < 1.5 / rate + step]
        even = float(np.mean(steps == 1)) if len(steps) else 0.0
        fit = float(min(inside, even))
        if fit >= FIT_SHARE and (best is None or fit > best[0] + 1e-6):
            best = fit, candidate
    return None if best is None else _settled(best[1], fresh)


def _settled(rough: Cadence, fresh: Floats) -> Cadence:
    """The clock with its rate fitted to the pictures: 23.976 and 24 cannot be told apart by counting."""
    number = rough.number(fresh)
    spacing, first = np.polyfit(number, fresh, 1)
    if abs(spacing * rough.rate - 1) > 0.002:
        return rough
    early = first - rough.offset
    return Cadence(float(1 / spacing), float(early), rough.offset)
