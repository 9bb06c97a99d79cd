"""How far off refined centres are, and whether their covariances say so, on rendered pictures with truth.

    python -m tests.vision.centres FOLDER [FOLDER ...] [--every N] [--fit]

FOLDERs are those of ``railbird render --dataset`` (``python -m sample_videos.dataset``). Every picture is looked at twice: as a picture, whose balls
tell their size among themselves, and as a calibrated camera's, which knows it (wrongly by 2 %, as real ones do). ``--fit`` fits the line that
`vision.refine.RefineOptions` keeps in ``error`` to half of the pictures and prints it; the table is of the other half then.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from calibration.camera import Camera
from vision import yolo
from vision.detections import Detections, Floats
from vision.refine import RefineOptions, outlines, refine
from vision.seer import fitted

SHARES = (0.75, 1.0, 1.3, 2.5)  # of a video's pixels that the detector looks at
SIZE_ERROR = 0.02
POINT_95 = 5.991  # of a chi-square with two degrees of freedom
FREEDOM = 4  # of the Student-t that errors are fitted by: a few are far off
CLASSES = ("whole, at rest", "hidden by 0.1 to 0.4", "hidden by more", "moved up to 1 radius", "moved by more", "cut")


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A picture, what the detector found in it and what is there: outlines' centres (n, 2), radius, share seen, way in radii, cut."""

    image: npt.NDArray[np.uint8]
    first: Detections
    camera: Camera
    ball_radius: float
    centre: Floats
    radius: Floats
    visible: Floats
    blur: Floats
    cut: npt.NDArray[np.bool_]
    wrong: float

    def expected(self, pixels: Floats) -> Floats:
        """Radius of a ball seen there, as a calibration that is a little wrong tells it."""
        xy = self.camera.unproject(pixels, self.ball_radius)
        radius = self.camera.ball_radius_px(np.nan_to_num(xy), self.ball_radius)
        return np.where(np.isfinite(xy).all(axis=1), radius * self.wrong, np.nan)

    def classes(self) -> npt.NDArray[np.intp]:
        """(n,) index into `CLASSES`."""
        seen = np.select([self.visible > 0.9, self.visible > 0.6], [0, 1], 2)
        moved = np.select([self.blur < 0.1, self.blur < 1], [seen, 3], 4)
        return np.where(self.cut, 5, moved)


def views(folders: list[Path], every: int, seed: int = 1) -> Iterator[View]:
    """The folders' pictures, one by one."""
    detect = yolo.load(threads=1)
    rng = np.random.default_rng(seed)
    for folder in folders:
        for path in sorted((folder / "full").glob("*/*.json"))[::every]:
            document = json.loads(path.read_text())
            balls, pixels = document["balls"], int(yolo.VIDEO_PIXELS * rng.choice(SHARES))
            image = np.asarray(cv2.imread(str(folder / document["file"])), dtype=np.uint8)
            first = detect(image, None, pixels)
            if not balls or not len(first):
                continue
            camera, r = Camera.from_json(document["camera"]), document["table"]["ball_m"] / 2
            at = np.array([b["at"] for b in balls])
            radius = camera.ball_radius_px(at, r)
            box = np.array([b["box"] for b in balls])
            far = np.array(image.shape[1::-1])
            yield View(
                image, first, camera, r,
                np.array([b["centre"] for b in balls]) + camera.outline_centre_offset(at, r),
                radius,
                np.array([b["visible"] for b in balls]),
                np.array([b["blur"] for b in balls]) / radius,
                ((box[:, :2] <= 0.01) | (box[:, :2] + box[:, 2:] >= far - 0.01)).any(axis=1),
                float(np.exp(rng.normal(0, SIZE_ERROR))),
            )  # fmt: skip


def pairs(view: View) -> list[tuple[int, int]]:
    """Balls and the detections nearest to them, where those lie on them."""
    gap = np.hypot(*(view.centre[:, None] - view.first.centre[None]).transpose(2, 0, 1))
    near = gap.argmin(axis=1)
    return [(k, int(j)) for k, j in enumerate(near) if gap[k, j] < 0.8 * view.radius[k]]


def told(errors: list[list[tuple[int, float, float, float]]]) -> str:
    """A table of errors (class, error in radii, chi-square, sigma in radii) of several ways to look."""
    lines = [f"{'':24s}" + "   balls  median    p90   said  within 95 %" * len(errors)]
    for k, name in enumerate(CLASSES):
        cells = []
        for way in errors:
            e = np.array([row[1:] for row in way if row[0] == k]).reshape(-1, 3)
            if len(e):
                inside = 100 * np.mean(e[:, 1] < POINT_95)
                cells.append(
                    f"{len(e):8d} {np.median(e[:, 0]):7.3f} {np.percentile(e[:, 0], 90):6.3f} {np.median(e[:, 2]):6.3f} {inside:11.1f} %"
                )
        lines.append(f"{name:24s}" + "".join(cells))
    chi = [np.array([row[2] for row in way]) for way in errors]
    said = [
        f"{100 * np.mean(c < POINT_95):.1f} % within 95 %, median {np.median(c):.2f} (1.39 if errors were normal)"
        for c in chi
    ]
    return "\n".join([*lines, "all: " + "; ".join(said)])


def fit_error(signs: Floats, squared: Floats) -> Floats:
    """The line in ``signs`` (n, p) for the log variance of errors whose squares in units of the shape are ``squared`` (n,)."""

    def loss(line: Floats) -> float:
        log_variance = signs @ line
        tail = (FREEDOM + 2) / 2 * np.log1p(squared * np.exp(-log_variance) / FREEDOM)
        return float(np.mean(tail + log_variance) + 1e-4 * (line[1:] ** 2).sum())

    line = minimize(loss, np.append(-4.0, np.zeros(signs.shape[1] - 1)), method="BFGS").x
    line[0] += np.log(np.percentile(squared * np.exp(-(signs @ line)), 95) / POINT_95)
    return np.asarray(line)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Errors of refined centres against their covariances.")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--fit", action="store_true")
    args = parser.parse_args()
    options = RefineOptions()
    ways: list[list[tuple[int, float, float, float]]] = [[], []]
    kept, signs, squared = [], [], []
    for index, view in enumerate(views(args.folders, args.every)):
        if args.fit and index % 2 == 0:
            expected = view.expected(view.first.centre)
            for start in (view.first, view.first.with_(radius=np.where(expected > 0, expected, view.first.radius))):
                fit = outlines(view.image, start, options)
                for k, j in pairs(view):
                    error = (fit.centre[j] - view.centre[k]) / fit.radius[j]
                    if not fit.lost[j] and np.hypot(*error) < 0.9:
                        signs.append(fit.signs[j])
                        squared.append(float(error @ np.linalg.inv(fit.shape[j]) @ error))
        else:
            kept.append(view)
    if args.fit:
        options = replace(options, error=tuple(np.round(fit_error(np.array(signs), np.array(squared)), 2).tolist()))
        sys.stdout.write(f"{len(squared)} fits, error = {options.error}\n")
    for view in kept:
        plain = refine(view.image, view.first, options)
        sized = fitted(view.image, view.first, view.expected(view.first.centre), options)[0]
        for way, found in zip(ways, (plain, sized), strict=True):
            for k, j in pairs(view):
                error = found.centre[j] - view.centre[k]
                chi = float(error @ np.linalg.inv(found.cov[j]) @ error)
                sigma = float(np.sqrt(np.trace(found.cov[j]) / 2))
                way.append(
                    (int(view.classes()[k]), float(np.hypot(*error)) / view.radius[k], chi, sigma / view.radius[k])
                )
    sys.stdout.write(
        "fitted from the size seen (left), from the size known (right); errors in radii\n" + told(ways) + "\n"
    )


if __name__ == "__main__":
    main()
