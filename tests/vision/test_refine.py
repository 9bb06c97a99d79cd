"""Refined centres against discs whose place is known, and covariances against the errors made."""

from __future__ import annotations

import numpy as np
import pytest

from tests.vision.picture import BLUE_CLOTH, GREEN_CLOTH, table
from vision import yolo
from vision.detections import Detections
from vision.refine import refine

RED, YELLOW, BLACK, WHITE, NAVY = (40, 40, 200), (40, 200, 230), (25, 25, 25), (225, 235, 240), (110, 40, 20)


def guess(balls: list[tuple[float, float, float]], seed: int = 0, off: float = 0.12) -> Detections:
    rng = np.random.default_rng(seed)
    b = np.array(balls)
    return Detections.of(b[:, :2] + rng.uniform(-off, off, (len(b), 2)) * b[:, 2:], b[:, 2] * 1.06, np.ones(len(b)))


@pytest.mark.parametrize("radius", [5.0, 10.0, 26.0])
@pytest.mark.parametrize("colour", [RED, YELLOW, BLACK, WHITE])
@pytest.mark.parametrize("cloth", [BLUE_CLOTH, GREEN_CLOTH])
def test_centre_to_a_fraction_of_a_pixel(
    radius: float, colour: tuple[int, int, int], cloth: tuple[int, int, int]
) -> None:
    ball = (45.3, 43.6, radius)
    found = refine(table([ball], [colour], cloth), guess([ball], off=0.15))
    error = np.hypot(*(found.centre[0] - ball[:2]))
    assert error < max(0.25, 0.04 * radius)
    assert found.radius[0] == pytest.approx(radius, rel=0.08)


def test_a_stripe_does_not_pull_the_centre() -> None:
    ball = (45.2, 45.7, 14.0)
    found = refine(table([ball], [RED], stripe=True), guess([ball]))
    assert np.hypot(*(found.centre[0] - ball[:2])) < 0.5


def test_a_touching_neighbour_does_not_pull_the_centre() -> None:
    balls = [(33.0, 45.0, 12.0), (57.0, 45.0, 12.0)]
    found = refine(table(balls, [RED, WHITE]), guess(balls))
    assert np.abs(found.centre - np.array(balls)[:, :2]).max() < 0.6


def test_covariance_is_honest_on_rendered_pictures() -> None:
    """Squared errors in units of the covariance follow a chi-square with two degrees of freedom, as far as tails go."""
    dataset = pytest.importorskip("sample_videos.dataset", reason="the renderer's extra is not installed")
    rng = np.random.default_rng(7)
    squared, share = [], []
    for image, labels, _ in dataset.pictures(18, seed=905, size=(640, 360)):
        balls = [b for b in labels if b.visible > 0.9 and b.blur < 0.6 and b.radius > 3.5]
        inside = [
            b
            for b in balls
            if b.box[0] > 1 and b.box[1] > 1 and b.box[0] + b.box[2] < 639 and b.box[1] + b.box[3] < 359
        ]
        every = [b for b in labels if b.visible > 0.3]
        if not inside:
            continue
        middle = np.array([[b.box[0] + b.box[2] / 2 - 0.5, b.box[1] + b.box[3] / 2 - 0.5] for b in every])
        radius = np.array([b.radius for b in every])
        start = middle + rng.normal(0, 0.05, middle.shape) * radius[:, None]
        found = refine(np.asarray(image), Detections.of(start, radius * 1.03, np.ones(len(every))))
        keep = np.array([b in inside for b in every])
        error = (found.centre - middle)[keep]
        squared += list(np.einsum("ni,nij,nj->n", error, np.linalg.inv(found.cov[keep]), error))
        share += list(np.hypot(*error.T) / radius[keep])
    c = np.array(squared)
    assert len(c) > 40
    assert np.median(share) < 0.06
    assert np.mean(c > 5.99) < 0.15  # 0.05 expected; the bound is four standard deviations of the sample away
    # 1.39 if errors were normal: a few are far off (racks, balls of the cloth's own colour), so that most are nearer than is said
    assert 0.15 < np.median(c) < 2.2


def test_covariance_is_honest_where_balls_are_hidden_or_move() -> None:
    """What the detector finds half hidden, cut or blurred is far off at times, and says so."""
    dataset = pytest.importorskip("sample_videos.dataset", reason="the renderer's extra is not installed")
    detector = yolo.load(threads=1)
    squared, said = [], []
    plain = []
    for index in (116, 93, 36, 31, 98, 105, 9, 139, 121, 119):  # those of the row with most such balls
        image, labels, _ = dataset.picture(907, index, (960, 540))
        found = refine(np.asarray(image), detector(np.asarray(image)))
        for b in labels:
            error = found.centre - np.array(b.centre)
            if b.radius < 3.5 or not len(found) or np.hypot(*error.T).min() > 0.9 * b.radius:
                continue
            k = int(np.hypot(*error.T).argmin())
            sigma = np.sqrt(np.trace(found.cov[k]) / 2) / b.radius
            if b.blur > b.radius or b.visible < 0.85:
                squared.append(error[k] @ np.linalg.inv(found.cov[k]) @ error[k])
                said.append(sigma)
            elif b.blur == 0 and b.visible > 0.95:
                plain.append(sigma)
    c = np.array(squared)
    assert len(c) >= 12
    assert np.mean(c > 5.99) < 0.35  # 0.05 expected; before hidden and moving balls were in the fit it was 0.6
    assert np.median(said) > 2 * np.median(plain), "trouble is not told from a clear view"


def test_a_moving_ball_is_known_less_well_along_its_blur() -> None:
    """Edges blurred over the way moved are wide, and say that the centre is less well known."""
    ball = (45.0, 45.0, 14.0)
    still = refine(table([ball], [WHITE], shadow=False, highlight=False), guess([ball], off=0.05))
    moved = refine(table([ball], [WHITE], streak=(9.0, 5.2), shadow=False, highlight=False), guess([ball], off=0.05))
    assert np.hypot(*(moved.centre[0] - ball[:2])) < 0.12 * ball[2]
    assert np.trace(moved.cov[0]) > 4 * np.trace(still.cov[0])


def test_many_balls_are_fitted_as_they_are_one_by_one() -> None:
    """More rays than remap takes columns: the pictures of some four hundred balls at once."""
    ball = (45.3, 43.6, 10.0)
    image = table([ball], [YELLOW])
    one = guess([ball])
    alone = refine(image, one)
    crowd = refine(image, Detections.merge([one] * 1100))
    np.testing.assert_allclose(crowd.centre, np.repeat(alone.centre, 1100, axis=0), atol=1e-4)


def test_nothing_to_refine_and_balls_at_the_edge() -> None:
    image = table([(2.0, 3.0, 10.0)], [RED])
    assert len(refine(image, Detections.empty())) == 0
    found = refine(image, Detections.of([[2.0, 3.0], [89.0, 89.0]], [10.0, 10.0], [1.0, 0.3]))
    assert np.isfinite(found.centre).all()
    assert np.isfinite(found.cov).all()
