"""Finds a pool table in a picture without any hint, and refines it over several pictures of the same view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import cv2
import numpy as np

from calibration.camera import Camera, Floats
from calibration.cloth import Picture, Quad, Region, bed_region, cloth_regions, quads
from calibration.errors import InputError
from calibration.evidence import EdgeRun, Evidence
from calibration.jaws import OFF_TOLD_M, find_jaws, placed
from calibration.lens import USUAL, Lens
from calibration.model import JOINT_PRIOR, fit
from calibration.pose import STRETCH_COST, WORST_COST, camera_from_corners, rectangle, stretched_cameras
from calibration.refine import Found, facing, finish, refine
from calibration.result import Calibration
from calibration.rows import cameras_from_rows
from calibration.sights import Planes, find_sights
from calibration.size import SURE, length_probabilities
from calibration.strips import RAIL_TOP_M, rail_length
from calibration.table import RAILS, SIZES, Table
from calibration.trust import PROOF, check, pinned, proves, true_sights

READINGS = 8  # cameras at most, of the likeliest regions, whose diamonds are looked for
CLOSE = 0.1  # of the picture: a table that covers less may stand behind the one that is meant
SAME = 0.001  # of the picture's longer side: cameras that see the corners so near each other are one reading
CLEAR_LEAD = 0.2  # of score, with which a reading is not caught up
LED_LEAD = 0.1  # the same by one whose diamonds were looked for already
POCKETED = 5  # readings at most that are refined by the pockets' jaws
HOPELESS = 0.5  # of the likeliest reading's worth: those with less are not refined
JAW_WORTH = 0.03  # of score: a jaw in its place
COLOUR_SIDE = 1280  # longer side at which diamonds are looked for by colour
FULL_SIDE = 1920  # larger pictures are reduced to this longer side: their lenses do not resolve more


def find_table(
    images: Sequence[Picture], *, length_m: float | None = None, pick: int = 0, lens: Lens = USUAL
) -> Calibration:
    """Finds the table.

    Parameters
    ----------
    images : one or more (h, w, 3) uint8 BGR pictures of one size; those that show the first one's view refine it.
    length_m : playing length, nose to nose; taken as 2.54 (9 ft) with a note if left out.
    pick : 0 for the largest, most complete table, 1 for the next, and so on.
    lens : what is known of the lens, as from the picture's file.

    Raises
    ------
    InputError
        With the reason, where no table is found or the fit is not good enough to be trusted.
    """
    if not images:
        raise InputError("no picture to find a table in: give at least one")
    picture = still(images)
    height, width = picture.shape[:2]
    if min(height, width) < 120:
        raise InputError(f"picture is {width}x{height}: too small to find a table in, give at least 320x240")
    scale = max(1.0, max(height, width) / FULL_SIDE)
    if scale > 1:
        picture = np.asarray(
            cv2.resize(picture, None, fx=1 / scale, fy=1 / scale, interpolation=cv2.INTER_AREA), dtype=np.uint8
        )
    table = Table() if length_m is None else Table(length_m, length_m / 2)
    try:
        chosen = _chosen(Planes(picture, lens), table, pick)
    except InputError:
        if lens == USUAL:
            raise
        # what a file says may be meant for another picture
        chosen = _chosen(Planes(picture), table, pick)
    camera = chosen.fit.camera
    if scale > 1:
        camera = replace(camera.scaled(scale), width=images[0].shape[1], height=images[0].shape[0])
    result = chosen.fit
    setback = result.setback_m if len(chosen.evidence.sights) >= 6 else None
    calibration = Calibration(table, camera, result.rms_px * scale, {}, 0.5, (), result.joint_m, setback, result.top_m)
    if length_m is not None:
        return calibration
    likely = length_probabilities(calibration)
    best = max(likely, key=lambda name: likely[name])
    if likely[best] > SURE:
        calibration = calibration.resized(SIZES[best][0])
    return replace(calibration, length_p=likely, notes=("length-assumed",))


def still(images: Sequence[Picture]) -> Picture:
    """Median of the pictures that show the same view as the first: less noise, and no one who walks past."""
    first = images[0]
    if len(images) == 1:
        return first
    small = [cv2.resize(x, (96, 54), interpolation=cv2.INTER_AREA).astype(np.float32) for x in images]
    same = [x for x, s in zip(images, small, strict=True) if float(np.median(np.abs(s - small[0]))) < 6.0]
    if len(same) < 3:
        return first
    return _median(same[:9])


def _median(pictures: list[Picture]) -> Picture:
    """Pixel by pixel, of an odd number of pictures: the last of an even number is left out."""
    sorting = [x.copy() for x in pictures[: (len(pictures) - 1) // 2 * 2 + 1]]
    half = len(sorting) // 2
    # the largest of those left goes to the end, until the middle one is in its place: far quicker than sorting each pixel
    for end in range(len(sorting) - 1, half - 1, -1):
        for k in range(end):
            low = np.minimum(sorting[k], sorting[k + 1])
            np.maximum(sorting[k], sorting[k + 1], out=sorting[k + 1])
            sorting[k] = low
    return sorting[half]


def _chosen(planes: Planes, table: Table, pick: int) -> Found:
    """The table that is meant, refined.

    Diamonds prove a table by themselves, whatever its cloth; where they do, and it is the only one asked for, nothing else
    is looked at.

    Raises
    ------
    InputError
        With the reason, where there is none to be trusted.
    """
    proven = by_diamonds(planes, table)
    if pick == 0 and any(f.quad.area_share > CLOSE for f in proven):
        try:
            return _best(planes, proven[:2], table)
        except InputError:
            proven = []
    ranked = sorted(proven + by_cloth(planes, table), key=lambda f: -f.score)
    if not ranked:
        ranked = by_cloth(planes, table, by_jaws=True)
    if not ranked:
        raise InputError(
            "no table found: no region of the picture is bounded like a cloth; give --corners or another view"
        )
    separate: list[Found] = []
    for found in ranked:
        if all(_apart(found, other) for other in separate):
            separate.append(found)
    while pick >= len(separate):
        # the clearest table takes all the readings: look again where none was found yet
        more = by_cloth(planes, table, [found.region for found in separate])
        if not more:
            break
        ranked += more
        separate.append(more[0])
    if pick >= len(separate):
        raise InputError(f"pick is {pick}, but only {len(separate)} tables were found: give a smaller number")
    try:
        return _best(planes, _rivals(ranked, separate[pick], table), table)
    except InputError as reason:
        # no diamonds and not cushions enough: the pockets may tell
        ranked = by_cloth(planes, table, by_jaws=True)
        rivals = _rivals(ranked, separate[pick], table, POCKETED)
        if not rivals:
            raise
        try:
            return _best(planes, rivals, table)
        except InputError as better:
            raise better from reason


def _rivals(ranked: list[Found], meant: Found, table: Table, most: int = 3) -> list[Found]:
    """The best readings of the table that is meant, each once."""
    rivals: list[Found] = []
    for found in [f for f in ranked if not _apart(f, meant)][:most]:
        if all(not _alike(found.fit.camera, other.fit.camera, table) for other in rivals):
            rivals.append(found)
    return rivals


def by_diamonds(planes: Planes, table: Table) -> list[Found]:
    """Tables whose diamonds alone show where they are, best first."""
    height, width = planes.picture.shape[:2]
    # brass or ivory on white shows by its yellow alone; colour is coded coarsely, so no more than half is to be seen there
    for part, scale in ((0, 1.0), (1, min(1.0, COLOUR_SIDE / max(width, height)))):
        plane = planes.yellow if part else planes.grey
        if scale < 1:
            plane = np.asarray(cv2.resize(plane, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
        found: list[Found] = []
        for small in cameras_from_rows(plane, table):
            camera = replace(small.scaled(1 / scale), width=width, height=height) if scale < 1 else small
            region, quad = bed_region(camera.project(rectangle(table.width_m, table.length_m, 0.0)), (width, height))
            result = refine(planes, camera, table, region, quad, windows=(0.06, 0.035))
            if result is not None and proves(result):
                found.append(replace(result, by_diamonds=True))
                if len(result.evidence.sights) >= 16:
                    break
        if found:
            return sorted(found, key=lambda f: -f.score)
    return []


def by_cloth(planes: Planes, table: Table, without: Sequence[Region] = (), *, by_jaws: bool = False) -> list[Found]:
    """Tables at the regions that may be a cloth, best first; ``without`` those where one was found already.

    Their diamonds and cushions tell, or, ``by_jaws``, their cushions and where these end at the pockets.
    """
    height, width = planes.picture.shape[:2]
    starts: list[tuple[float, Region, Quad]] = []
    for region in cloth_regions(planes.picture, 5 + 2 * len(without), hazy=by_jaws):
        if not all(_disjoint(region, other) for other in without):
            continue
        for quad in quads(region):
            value = quad.overlap**4 * (0.1 + float(quad.support.mean())) ** 2 * quad.area_share**0.5
            starts.append((value, region, quad))
    starts.sort(key=lambda x: -x[0])
    near = 0.012 * max(height, width)
    kept: list[tuple[float, Region, Quad]] = []
    for value, region, quad in starts:
        if all(np.abs(quad.corners - other.corners).max() > near for _, _, other in kept):
            kept.append((value, region, quad))
    starts = kept[:5]
    firsts: list[tuple[float, Camera, Region, Quad]] = []
    for value, region, quad in starts:
        for roll in (0, 1):
            corners = np.roll(quad.corners[::-1], roll, axis=0)
            try:
                first = camera_from_corners(corners, table, (width, height), lens=planes.lens)
            except ValueError:
                continue
            starts_here = [(1.0, first)]
            if first.cost > STRETCH_COST:
                starts_here += [(0.5, other) for other in stretched_cameras(first.camera, corners, table)]
            firsts += [
                (belief * value * float(np.exp(-0.15 * start.cost)), start.camera, region, quad)
                for belief, start in starts_here
                if start.cost < WORST_COST
            ]
    firsts.sort(key=lambda x: -x[0])
    posed: list[tuple[float, Camera, Region, Quad]] = []
    for worth, camera, region, quad in firsts:
        for reading in _readings(camera, region, table):
            if all(not _alike(reading, other, table) for _, other, _, _ in posed):
                posed.append((worth, reading, region, quad))
        if len(posed) >= READINGS:
            break
    looked = []
    for worth, camera, region, quad in posed[:READINGS]:
        if by_jaws:
            # which rails are the long ones shows by the side pockets, whatever the corners would rather have
            worth = len(find_jaws(planes.picture, camera, table, 0.12))
        else:
            seen = find_sights(planes, camera, table, 0.12, by_colour=False)
            worth *= 1 + 0.1 * sum(min(x.strength, 20.0) / 20 for x in seen)
        looked.append((worth, camera, region, quad))
    looked.sort(key=lambda x: -x[0])
    found = []
    ends: list[Floats] = []
    for worth, camera, region, quad in looked[: POCKETED if by_jaws else 3]:
        if worth < HOPELESS * looked[0][0]:
            break
        result = refine(planes, camera, table, region, quad, not by_jaws, by_jaws=by_jaws)
        if result is None:
            continue
        if len(result.evidence.sights) < 12 and not by_jaws:
            # faint marks may be none: what the cloth and cushions say without them is a reading of its own
            alone = refine(planes, camera, table, region, quad, led_by_sights=False)
            found += [alone] if alone is not None else []
        seen_at = result.fit.camera.project(rectangle(table.width_m, table.length_m, 0.0), table.nose_height)
        apart = SAME * max(height, width) if by_jaws else near
        if all(np.abs(seen_at - other).max() > apart for other in ends):
            found.append(result)
            ends.append(seen_at)
        good = true_sights(result)
        if len(good) >= PROOF and len({x.rail for x in good}) >= 3 and result.score > 1.6:
            break  # nothing but a table has that many marks in their places
    return sorted(found, key=lambda f: -f.score)


def _readings(camera: Camera, region: Region, table: Table) -> list[Camera]:
    """Cameras fitted to the region's whole outline, lens included.

    One takes it that the region ends where cloth meets rail; others that at cushions that face the camera, which may
    lie in their own shade and not be seen as the same cloth, it ends with the bed.
    """
    turned = facing(camera, table, 0.8)
    cameras = []
    for count in range(len(turned) + 1):
        for shaded in combinations(turned, count):
            now = camera
            for reach in (0.10, 0.05):
                # the first camera took every side for a joint: by that the outline is shared out at first
                runs = _outline_runs(now, region, table, shaded, reach, shaded if reach < 0.1 else ())
                if len(runs) >= 3:
                    now = fit(now, table, Evidence(edges=runs), rounds=12).camera
            cameras.append(now)
    return cameras


def _outline_runs(
    camera: Camera, region: Region, table: Table, shaded: tuple[str, ...], reach: float, sunk: tuple[str, ...]
) -> list[EdgeRun]:
    """The region's outline, shared out to the rails near which it runs."""
    height, width = region.mask.shape
    contour = region.contour
    free = ((contour > 2) & (contour < (width - 3, height - 3))).all(axis=1)
    pixels = (contour[free] + 0.5) * region.scale - 0.5
    runs = []
    for rail in RAILS:
        level, outside = (0.0, 0.0) if rail in sunk else (RAIL_TOP_M, JOINT_PRIOR[0])
        place = camera.unproject(pixels, level)
        x, y = place.T
        s = x if rail in ("head", "foot") else y
        d = {"head": y, "foot": table.length_m - y, "left": x, "right": table.width_m - x}[rail]
        extent = rail_length(table, rail)
        with np.errstate(invalid="ignore"):
            near = (np.abs(d + outside) < reach) & (s > 0.1) & (s < extent - 0.1)
            if rail in ("left", "right"):
                near &= np.abs(s - extent / 2) > 0.1
        if np.count_nonzero(near) >= 12:
            order = np.argsort(s[near])
            runs.append(EdgeRun(rail, "bed" if rail in shaded else "joint", s[near][order], pixels[near][order]))
    return runs


def _best(planes: Planes, rivals: list[Found], table: Table) -> Found:
    """Of several readings of one table the one that, finished, explains most, if it can be trusted.

    Raises
    ------
    InputError
        With the reason why not, where none can.
    """
    finished: list[Found] = []
    for rival in rivals:
        first = max(finished, key=lambda f: f.score, default=None)
        if first is None or not _out_of_reach(first, rival, table):
            finished.append(finish(planes, rival, table))
    reason: InputError | None = None
    for found in sorted(finished, key=lambda f: -_standing(f, table)):
        try:
            check(found, table)
        except InputError as error:
            reason = reason or error
            continue
        return found
    assert reason is not None
    raise reason


def _standing(found: Found, table: Table) -> float:
    """The score, with what the pockets' jaws are worth that lie in their places, where they led to the reading."""
    if not found.by_jaws:
        return found.score
    off = [j.along_m - p.along_m for j, p in zip(found.jaws, placed(found.jaws, table), strict=True)]
    return found.score + JAW_WORTH * float(np.maximum(0, 1 - (np.array(off) / OFF_TOLD_M) ** 2).sum())


def _out_of_reach(first: Found, rival: Found, table: Table) -> bool:
    """Whether a rival explains so much less than one that is finished and can be trusted that it will not come out first."""
    ahead = first.score - rival.score
    if not rival.led_by_sights:
        return ahead > CLEAR_LEAD and pinned(first)  # diamonds that it finds yet may let it catch up
    try:
        check(first, table)
    except InputError:
        return False
    return ahead > LED_LEAD


def _alike(a: Camera, b: Camera, table: Table) -> bool:
    """Whether two cameras see a table's corners, named alike, at the same places but for a pixel or two."""
    corners = rectangle(table.width_m, table.length_m, 0.0)
    off = np.abs(a.project(corners, table.nose_height) - b.project(corners, table.nose_height))
    return bool(off.max() < SAME * max(a.width, a.height))


def _apart(a: Found, b: Found) -> bool:
    return _disjoint(a.region, b.region)


def _disjoint(a: Region, b: Region) -> bool:
    both = np.count_nonzero(a.mask & b.mask)
    return bool(both < 0.3 * min(np.count_nonzero(a.mask), np.count_nonzero(b.mask)))


__all__ = ["Found", "by_cloth", "by_diamonds", "check", "find_table", "still"]
