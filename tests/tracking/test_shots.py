"""A raw shot under its ball numbers."""

import numpy as np

from calibration.table import Table
from tracking.joint import Kink, Path, solve
from tracking.reconstruct import Reading
from tracking.shots import RawShot, name_shot

R = 0.028575


def test_no_ball_meets_itself() -> None:
    """Two pieces of one ball's track, with one number, may seem to touch where one begins as the other ends."""
    t = np.arange(20) / 60
    cov = np.tile(np.eye(2) * 1e-6, (len(t), 1, 1))
    paths = {}
    for track, x in ((3, 0.5 + np.minimum(t, 0.15)), (8, 0.65 + 2 * R + np.maximum(t - 0.15, 0))):
        v = 1.0 if track == 3 else 0.0
        arcs = np.array([[x[0], 0.6, v, 0, v, 0], [x[9], 0.6, 1 - v, 0, 1 - v, 0]])
        paths[track] = Path(track, t, np.column_stack([x, np.full_like(x, 0.6)]), cov, 0.0, arcs, track == 8)
    fit = solve(paths, [Kink("contact", 0.15, (3, 8))], radius=R)
    starts = {b: p.xy[0] for b, p in paths.items()}
    reading = Reading(fit, starts, {b: p.xy[-1] for b, p in paths.items()}, {}, [3, 8], 0.33, 1 / 60)
    raw = RawShot(reading, 0.0, 0.33, None)
    sure = {3: 1.0, 8: 1.0}
    assert len(name_shot(raw, 1, {3: 5, 8: 6}, sure, Table()).shot.events) == 1
    assert not name_shot(raw, 1, {3: 5, 8: 5}, sure, Table()).shot.events
