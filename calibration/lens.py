"""What is known of a lens before the table is looked for: a usual one, or what a picture's own file says of it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import ExifTags, Image

FILM_DIAGONAL_MM = 43.27  # of the 24 x 36 mm frame that "35 mm equivalent" is meant for
TOLD_SPREAD = 0.05  # rounded to a millimetre; some makers mean the diagonal, others the longer side
KNOWN_SPREAD = 0.1  # below which a focal length counts as known
SAME_SHAPE = 0.01  # by which the sides' ratio may differ from the one that was taken
#: Focal lengths, mm, that a whole picture is taken with: others are a mistake.
SENSIBLE_MM = (8.0, 400.0)


@dataclass(frozen=True, slots=True)
class Lens:
    """Focal length as known before looking.

    Parameters
    ----------
    focal : median, shares of the picture's longer side.
    spread : standard deviation of its logarithm.
    """

    focal: float
    spread: float

    @property
    def told(self) -> bool:
        """Whether the focal length is known, not only what is usual."""
        return self.spread < KNOWN_SPREAD


USUAL = Lens(1.1, 0.4)


def told_by(file: Path) -> Lens | None:
    """The lens that a picture was taken with, as its file tells (EXIF, focal length as for 35 mm film); None where it does not.

    A picture that was cut out of another is of another shape than the one taken, and tells nothing.
    """
    try:
        with Image.open(file) as image:
            size = image.size
            exif = image.getexif().get_ifd(ExifTags.IFD.Exif)
    except (OSError, SyntaxError, ValueError, struct.error, Image.DecompressionBombError):
        return None
    focal_mm = _number(exif.get(ExifTags.Base.FocalLengthIn35mmFilm))
    width, height = (_number(exif.get(tag)) for tag in (ExifTags.Base.ExifImageWidth, ExifTags.Base.ExifImageHeight))
    if focal_mm is None or not SENSIBLE_MM[0] <= focal_mm <= SENSIBLE_MM[1]:
        return None
    if width is not None and height is not None:
        ratio = max(size) / min(size) * min(width, height) / max(width, height)
        if abs(ratio - 1) > SAME_SHAPE:
            return None
    return Lens(focal_mm / FILM_DIAGONAL_MM * float(np.hypot(*size)) / max(size), TOLD_SPREAD)


def _number(value: object) -> float | None:
    """A positive number of EXIF, which may be a fraction, or absent."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return number if np.isfinite(number) and number > 0 else None


__all__ = ["USUAL", "Lens", "told_by"]
