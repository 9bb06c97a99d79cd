"""What a detector takes for balls on labelled pictures: the identity network learns from these places what is no ball."""

from __future__ import annotations

import cv2
import numpy as np

from vision.detections import Floats
from vision.labels import Labelled
from vision.yolo import Detector

MOST = 6  # of one picture
BELIEVED = 0.6  # score above which a find on a real picture may well be a ball that nobody labelled


def mistakes(detector: Detector, picture: Labelled) -> Floats:
    """Circles (k, 3) that lie on no label, likeliest first; none in areas that say nothing."""
    image = cv2.imread(str(picture.path))
    if image is None:
        return np.zeros((0, 3))
    found = detector(np.asarray(image, dtype=np.uint8))
    if not picture.group.startswith("rendered/"):
        found = found[found.score < BELIEVED]
    if len(picture.centre):
        gap = np.linalg.norm(found.centre[:, None] - picture.centre[None], axis=2)
        found = found[(gap > picture.radius).all(axis=1)]
    for x, y, w, h in picture.ignore:
        c = found.centre
        found = found[~((c[:, 0] > x - 5) & (c[:, 0] < x + w + 5) & (c[:, 1] > y - 5) & (c[:, 1] < y + h + 5))]
    best = np.argsort(-found.score)[:MOST]
    return np.column_stack([found.centre, found.radius])[best]
