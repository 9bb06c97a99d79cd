"""Says whether a reading of a picture may be trusted, and refuses it with the reason where not."""

from __future__ import annotations

import numpy as np

from calibration.errors import InputError
from calibration.jaws import OFF_TOLD_M, agree, aside, halves
from calibration.refine import PINNED, Found
from calibration.sights import Sight
from calibration.table import RAILS, Table

PROOF = 12  # sights in their places, on all rails, that prove a table without any cloth
PROOF_OF_THREE = 13  # and on three: both long rails, nearly whole, and an end
DOUBTFUL_PX = 0.6  # at 1280: that lines may be off where neither diamonds nor pockets with a known lens say it
CROOKED_PX = 1.0  # and where these do: what is off are the cushions
ASIDE_M = 0.018  # that cushions may seem to lie aside of the middle of their rails, where no diamonds say it
HALFWAY_M = (
    0.012  # along its rail that a side pocket may seem to lie from halfway, where pockets had no part in the reading
)


def true_sights(found: Found) -> list[Sight]:
    """The sights that lie where the fit has them."""
    camera = found.fit.camera
    limit = max(1.5, 0.0012 * max(camera.width, camera.height))
    order = [x for rail in RAILS for x in found.evidence.sights if x.rail == rail]
    return [x for x, e in zip(order, found.fit.sight_px, strict=True) if e < limit]


def proves(found: Found) -> bool:
    """Whether the diamonds alone leave no doubt: nothing but a table has that many marks in their places."""
    good = true_sights(found)
    rails = {x.rail for x in good}
    # an end may be hidden, or its rail be seen too flat
    return len(rails) >= 3 and len(good) >= (PROOF if rails == set(RAILS) else PROOF_OF_THREE)


def pinned(found: Found) -> bool:
    """Whether enough diamonds agree with a table found by its cloth."""
    good = true_sights(found)
    return len(good) >= PINNED and len({x.rail for x in good}) >= 3


def check(found: Found, table: Table) -> None:
    """Refuses a fit that is not good enough.

    Raises
    ------
    InputError
        With the reason.
    """
    camera, result = found.fit.camera, found.fit
    unit = max(camera.width, camera.height)
    way_out = "give --corners or another view"
    rails = len({run.rail for run in found.evidence.edges})
    limit = max(1.5, 0.0012 * unit)
    good = true_sights(found)
    if found.by_diamonds and not proves(found):
        raise InputError(f"table not determined: {len(good)} diamonds agree, too few without a cloth; {way_out}")
    if found.cover < 0.75:
        raise InputError(f"no table found: only {found.cover:.0%} of the bed would be cloth; {way_out}")
    if found.beyond > 0.3:
        raise InputError(f"no table found: the cloth's colour goes on where the rails should be; {way_out}")
    if not pinned(found):
        # without enough diamonds the cloth and the cushions must say it alone, and so must leave no doubt
        true = float(np.mean(result.edge_px < limit)) if len(result.edge_px) else 0.0
        noses = sum(run.kind == "nose" for run in found.evidence.edges)
        seen = f"{len(good)} diamonds and {rails} cushions agree"
        if rails < 4 or noses < 3 or true < 0.7:
            raise InputError(f"table not determined: {seen}, too few to be sure; {way_out}")
        told = camera.lens.told
        crooked = CROOKED_PX if told and found.by_jaws else DOUBTFUL_PX
        if result.rms_px > crooked * max(1.0, unit / 1280):
            raise InputError(f"table not determined: {seen}, but to {result.rms_px:.1f} pixels only; {way_out}")
        if found.cover < 0.92 or found.beyond > 0.1 or abs(camera.aspect - 1) > 0.02:
            raise InputError(f"table not determined: {seen}, but the cloth does not end with them; {way_out}")
        if found.by_jaws and not agree(found.jaws, table, told):
            raise InputError(f"table not determined: no diamonds, and pockets do not lie as on a table; {way_out}")
        for pair, which in ((("head", "foot"), "end"), (("left", "right"), "long")):
            gap = aside(found.jaws, table, pair)
            if gap is None or abs(gap) > ASIDE_M:
                what = "not seen whole" if gap is None else f"{abs(gap) * 1e3:.0f} mm aside"
                raise InputError(
                    f"table not determined: {len(good)} diamonds agree, and {which} cushions are {what}; {way_out}"
                )
        sides = [abs(off) for side, off in halves(found.jaws, table) if side]
        if not sides or max(sides) > (OFF_TOLD_M if found.by_jaws else HALFWAY_M):
            what = f"{max(sides) * 1e3:.0f} mm from halfway" if sides else "not seen"
            raise InputError(
                f"table not determined: {len(good)} diamonds agree, and side pockets are {what} along the rails; {way_out}"
            )
    if result.rms_px > 1.5 * max(1.0, unit / 1280):
        raise InputError(f"table not determined: lines are off by {result.rms_px:.1f} pixels; {way_out}")
    if not 0.3 < camera.focal / unit < 12:
        raise InputError(f"table not determined: focal length comes out at {camera.focal:.0f} pixels; {way_out}")
