"""`railbird calibrate`: finds the table in a video or picture and writes table.json and a preview."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.byhand import from_corners
from calibration.cloth import Picture
from calibration.errors import InputError
from calibration.find import find_table
from calibration.lens import USUAL, told_by
from calibration.preview import preview
from calibration.result import Calibration
from railbird import result as results
from vision.video import PICTURES, open_video

LOOKS_S = (0.0, 0.4, 0.8, 1.2, 1.6)  # pictures of these times are put together: people move, the table does not
SEARCH_S = 30.0  # how long a video may take to show a table
SEARCH_STEP_S = 2.0


def run(
    source: str,
    length: float | None,
    corners: Sequence[Sequence[float]] | None,
    pick: int,
    out: Path,
) -> dict[str, Any]:
    """Calibrate and write ``out`` and beside it a preview ``.png``, each whole or not at all.

    Parameters
    ----------
    source : a video or a picture.
    length : playing length, metres, or None.
    corners : four (x, y) by hand, or None to find the table.
    pick : which table, where there are several.
    out : the table.json to write.

    Returns
    -------
    The document written.

    Raises
    ------
    InputError
        Where the source cannot be read, the table is not found, or ``out`` cannot be written.
    """
    if corners is not None:
        image = next(iter(_pictures(source)))[0]
        calibration = from_corners((image.shape[1], image.shape[0]), corners, length)
    else:
        image, calibration = _search(source, length, pick)
    document = {
        "format": "railbird/1",
        "source": {"file": Path(source).name, "width": image.shape[1], "height": image.shape[0]},
        "table": calibration.to_json(),
    }
    done, data = cv2.imencode(".png", preview(image, calibration))
    if not done:
        raise InputError(f"{source}: the preview could not be made")
    results.write_bytes(out.with_suffix(".png"), data.tobytes())
    results.write_json(out, document)
    return document


def _search(source: str, length: float | None, pick: int) -> tuple[Picture, Calibration]:
    reason: InputError | None = None
    lens = (told_by(Path(source)) if Path(source).suffix.lower() in PICTURES else None) or USUAL
    for batch in _pictures(source):
        try:
            return batch[0], find_table(batch, length_m=length, pick=pick, lens=lens)
        except InputError as error:
            reason = reason or error
    raise InputError(f"{source}: {reason}")


def _pictures(source: str) -> list[list[Picture]]:
    """Batches of pictures in which to look: one for a picture; for a video one every two seconds."""
    path = Path(source)
    if path.suffix.lower() in PICTURES and path.is_file():
        image = cv2.imread(source, cv2.IMREAD_COLOR)
        if image is None:
            raise InputError(f"{source}: not a picture that can be read; give a jpg, png or bmp")
        return [[np.asarray(image, dtype=np.uint8)]]
    batches: list[list[Picture]] = []
    with open_video(source) as video:
        start, wanted = 0.0, 0
        batch: list[Picture] = []
        for frame in video:
            if frame.t_s - start >= LOOKS_S[wanted]:
                batch.append(frame.image)
                wanted += 1
            if wanted == len(LOOKS_S):
                batches.append(batch)
                batch, wanted, start = [], 0, start + SEARCH_STEP_S
                if len(batches) == 3 or start > SEARCH_S:
                    break
        if batch:
            batches.append(batch)
    if not batches:
        raise InputError(f"{source}: holds no picture")
    return batches
