"""The disputed call: answers with their probability, the other reading, pictures, and what the view cannot show."""

from __future__ import annotations

import copy
import json
import math
import re
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from calibration.errors import InputError
from railbird.check import check_match, pictures
from railbird.check.diagram import NARROW, WIDE, draw, ellipse
from railbird.check.page import reruled, what_ifs
from railbird.check.pictures import crop_box, decisive
from railbird.check.question import examine, shot_near, sole_contact, which_question
from railbird.drawing.course import Cameras, Course
from railbird.drawing.lettering import text_width
from railbird.words import words
from tests.railbird.made import a_clip, close_contacts, event, ruled

EN = words("en")
CLOSE = 0.0012


@pytest.fixture
def short_film(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the slow motion is not what is tried, half a second of it is enough."""
    monkeypatch.setattr(pictures, "FILM_S", 0.5)


@pytest.fixture(scope="module")
def match() -> dict[str, Any]:
    return ruled(CLOSE)


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory, match: dict[str, Any]) -> Path:
    return a_clip(tmp_path_factory.mktemp("clip") / "made.mp4", match, sound=None)


@pytest.fixture(scope="module")
def done(clip: Path, match: dict[str, Any]) -> tuple[dict[str, Any], Path]:
    folder = clip.parent / "check"
    return check_match(match, clip, at=8.3, out=folder), folder


def test_document_is_that_of_the_formats(done: tuple[dict[str, Any], Path], match: dict[str, Any]) -> None:
    answer, folder = done
    assert answer["format"] == "railbird/1"
    assert answer["question"] == "first-contact"
    assert answer["answer"] == "2"
    assert answer["ruling"] == match["shots"][2]["ruling"]
    assert answer["alternative"]["enforced"] == "wrong-ball-first"
    assert answer["alternative"]["next"]["cue_ball"] == "in-hand"
    assert len(answer["cannot_show"]) >= 3
    assert all(Path(f).stat().st_size > 0 for f in answer["files"])
    assert json.loads((folder / "check.json").read_text()) == answer


@pytest.mark.parametrize("gap", [-0.010, -0.003, 0.0005, 0.0012, 0.003, 0.030])
def test_probability_of_the_order(gap: float) -> None:
    """Two times with 1 ms each: the order is as sure as the normal distribution says."""
    dispute = examine(ruled(gap), 2, 8.3, "first-contact", EN)
    both = 0.99 * 0.99
    order = 0.5 * (1 + math.erf(abs(gap) / 0.001 / 2))
    want = min(0.99 * 0.01 + both * order, 0.999)
    assert dispute.answer == ("2" if gap > 0 else "5")
    assert dispute.p == pytest.approx(want, abs=1e-6)


def test_the_fit_knows_the_order_better(match: dict[str, Any]) -> None:
    shot = copy.deepcopy(match)
    shot["shots"][2]["orders"] = [{"events": [1, 2], "p": 0.999}]
    assert examine(shot, 2, 8.3, "first-contact", EN).p > 0.98
    shot["shots"][2]["orders"] = [{"events": [2, 1], "p": 0.999}]
    assert examine(shot, 2, 8.3, "first-contact", EN).answer == "5"


def test_unlikely_contact_does_not_answer() -> None:
    match = ruled(0.03)
    match["shots"][2]["events"].insert(1, event("contact", 8.2, p=0.1, balls=[0, 9], at=[0.5, 1.2]))
    assert examine(match, 2, 8.3, "first-contact", EN).answer == "2"


def test_nothing_hit() -> None:
    match = ruled(0.03)
    shot = match["shots"][2]
    shot["events"] = [e for e in shot["events"] if e["kind"] == "strike"]
    shot["paths"] = {"0": shot["paths"]["0"]}
    dispute = examine(match, 2, 8.3, "first-contact", EN)
    assert (dispute.answer, dispute.otherwise) == ("none", None)


def test_a_contact_that_nobody_saw_is_not_said_to_be_none() -> None:
    """Balls moved, or the cue ball itself was not seen: the recording has no answer, and no number beside it."""
    match = ruled(0.03)
    shot = match["shots"][2]
    shot["events"] = [e for e in shot["events"] if e["kind"] != "contact"]
    dispute = examine(match, 2, 8.3, "first-contact", EN)
    assert (dispute.answer, dispute.p, dispute.otherwise) == ("unseen", 0.5, None)
    assert dispute.t_s == pytest.approx(8.3, abs=0.1), "where the first ball began to move"
    assert set(dispute.balls) == {0, 2, 5}
    shot["paths"], shot["start"] = {}, {"9": shot["start"]["9"]}
    assert examine(match, 2, 8.3, "first-contact", EN).answer == "unseen"


def alone(p: float) -> dict[str, Any]:
    """The third shot with one contact, of probability ``p``, and one ball that moves."""
    match = ruled(0.03)
    shot = match["shots"][2]
    shot["events"] = [
        {**e, "p": p} if e["kind"] == "contact" else e for e in shot["events"] if e.get("balls") != [0, 5]
    ]
    del shot["paths"]["5"]
    return match


def test_no_ball_moves_by_itself() -> None:
    """One ball moved and one contact was told: however ill its kink is explained, that nothing was hit is no reading."""
    match = alone(0.72)
    match["shots"][2] = sole_contact(match["shots"][2])
    dispute = examine(match, 2, 8.3, "first-contact", EN)
    assert (dispute.answer, dispute.otherwise) == ("2", None)
    assert dispute.p == pytest.approx(0.995)


def test_a_ball_that_moved_unexplained_keeps_the_contact_in_doubt() -> None:
    match = alone(0.72)
    match["shots"][2]["paths"]["5"] = close_contacts(0.0)["paths"]["5"]
    assert sole_contact(match["shots"][2]) is match["shots"][2]
    assert examine(match, 2, 8.3, "first-contact", EN).p == pytest.approx(0.72)


def test_an_unlikely_contact_is_no_answer_where_balls_moved() -> None:
    assert examine(alone(0.4), 2, 8.3, "first-contact", EN).answer == "unseen"


@pytest.mark.parametrize(("known", "other"), [(0.62, 5), (0.999, None)])
def test_the_doubt_may_be_the_number(known: float, other: int | None) -> None:
    """What was hit is plain and which number it bears is not: the other reading is the number, not another contact."""
    match = alone(0.995)
    match["shots"][2]["identity_p"] = {"0": 1.0, "2": known, "5": known, "9": 0.99}
    dispute = examine(match, 2, 8.3, "first-contact", EN)
    assert dispute.answer == "2"
    assert dispute.p == pytest.approx(0.995 * (known if other else 1), abs=1e-6)
    assert dispute.otherwise == ({"first_contact": other} if other else None)
    assert any("number on the ball" in note for note in dispute.notes) == (other is not None)


@pytest.mark.parametrize(("gap", "says"), [(0.0012, "1.2 ms later"), (-0.0012, "1.2 ms later"), (0.25, "0.25 s later")])
def test_the_other_contact_is_told_in_words(gap: float, says: str) -> None:
    assert says in examine(ruled(gap), 2, 8.3, "first-contact", EN).notes[0]


def test_what_is_said_of_a_whole_shot_holds_where_the_clip_cuts_it_off() -> None:
    match = ruled(0.03)
    match["shots"] = match["shots"][:3]
    match["shots"][2] |= {"partial": True, "cut": "end"}
    for facts in ({"first_contact": None}, {"rail": False}):
        found = reruled(match, 2, facts)
        assert found is not None
        assert (found[1]["legal"], found[1]["enforced"]) == (False, "no-rail")


def test_rail_yes_and_no() -> None:
    match = ruled(0.03)
    yes = examine(match, 2, 9.0, "rail", EN)
    assert (yes.answer, yes.p, yes.otherwise) == ("yes", pytest.approx(0.99), {"rail": False})
    match["shots"][2]["events"] = [e for e in match["shots"][2]["events"] if e["kind"] != "rail"]
    no = examine(match, 2, 9.0, "rail", EN)
    assert (no.answer, no.otherwise) == ("no", {"rail": True})
    assert no.t_s == pytest.approx(9.1, abs=0.02), "the nearest approach"
    assert "mm from the foot rail" in no.notes[0]


def test_pocket_and_double_hit() -> None:
    match = ruled(0.03)
    pocket = examine(match, 0, 2.4, "pocket", EN)
    assert (pocket.answer, pocket.p, pocket.otherwise) == ("1", pytest.approx(0.98), {"pocketed": []})
    match["shots"][1]["suspected"] = {"double-hit": 0.7}
    double = examine(match, 1, 4.8, "double-hit", EN)
    assert (double.answer, double.p) == ("suspected", 0.7)
    assert "double-hit" not in double.otherwise["observed"]  # type: ignore[index]


def test_the_question_is_what_the_ruling_hangs_on(match: dict[str, Any]) -> None:
    assert [shot_near(match, t) for t in (0.0, 2.0, 3.9, 7.9, 13.9)] == [0, 0, 1, 2, 3]
    assert which_question(match["shots"][1], 4.9) == "first-contact"
    assert which_question(match["shots"][3], 12.0) == "pocket"
    assert which_question(match["shots"][0], 2.35) == "pocket"
    assert which_question(match["shots"][0], 1.5) == "first-contact"


def test_other_facts_are_ruled_again(match: dict[str, Any]) -> None:
    rows = {row["if"]: row for row in what_ifs(match, 2, examine(match, 2, 8.3, "first-contact", EN), EN)}
    assert rows["If the 2 was hit first"]["kind"] == "plain"
    assert rows["If the 5 was hit first"]["headline"] == "Foul: wrong ball first"
    assert rows["If the 5 was hit first"]["article"] == "WPA 2025 · 3.2"
    assert "If there was no contact" not in rows, "two balls moved, and none does by itself"
    still = {**match, "shots": [{**shot, "paths": {"0": shot["paths"]["0"]}} for shot in match["shots"]]}
    rows |= {row["if"]: row for row in what_ifs(still, 2, examine(still, 2, 8.3, "first-contact", EN), EN)}
    assert rows["If there was no contact"]["kind"] == "foul"
    assert rows["If it was a double hit"]["headline"] == "Foul: double hit"
    found = reruled(match, 2, {"first_contact": 5})
    assert found is not None
    assert found[1]["p"] > 0.95, "if it was so, there is no doubt"


def test_page_pictures_and_slow_motion(done: tuple[dict[str, Any], Path]) -> None:
    _, folder = done
    html = (folder / "check.html").read_text(encoding="utf-8")
    for said in (
        "The 2 was hit first",
        "Foul: wrong ball first",
        "3.2",
        "What this view cannot show",
        "data:video/mp4",
        "data:image/jpeg",
    ):
        assert said in html
    assert "Too close to be sure" in html
    with Image.open(folder / "check.png") as sheet:
        assert sheet.width / sheet.height == pytest.approx(210 / 297, abs=1e-3)
        assert sheet.width >= 1800, "sharp on paper"
        assert len(np.unique(np.asarray(sheet.convert("L")))) > 50
    with av.open(str(folder / "slow.mp4")) as film:
        stream = film.streams.video[0]
        assert (stream.width, stream.height) == (960, 540)
        count = sum(1 for _ in film.decode(video=0))
    assert 60 <= count <= 6 * 30
    pdf = (folder / "check.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert pdf.count(b"/Type /Page\n") == 1
    left, bottom, right, top = (float(v) for v in re.search(rb"/MediaBox \[ (.+?) \]", pdf)[1].split())  # type: ignore[index]
    assert ((right - left) / 72 * 25.4, (top - bottom) / 72 * 25.4) == pytest.approx((210, 297), abs=0.5)


@pytest.mark.usefixtures("short_film")
@pytest.mark.parametrize("language", ["hu", "et"])
def test_other_languages(clip: Path, match: dict[str, Any], tmp_path: Path, language: str) -> None:
    answer = check_match(match, clip, at=8.3, out=tmp_path, language=language)
    html = (tmp_path / "check.html").read_text(encoding="utf-8")
    assert f'<html lang="{language}">' in html
    assert words(language)("check.limits") in html
    assert EN("check.limits") not in html
    assert answer["answer"] == "2"


@pytest.mark.usefixtures("short_film")
def test_what_if_of_the_user(clip: Path, match: dict[str, Any], tmp_path: Path) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text('{"first_contact": 5}')
    answer = check_match(match, clip, at=8.3, out=tmp_path / "out", what_if=facts)
    assert answer["what_if"]["ruling"]["enforced"] == "wrong-ball-first"
    assert "With the facts given" in (tmp_path / "out" / "check.html").read_text(encoding="utf-8")


def test_limits_name_the_rate_and_the_order(done: tuple[dict[str, Any], Path]) -> None:
    text = " ".join(done[0]["cannot_show"])
    assert "1.2 ms apart" in text
    assert "30 pictures a second" in text
    assert "mm on the table" in text


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"at": -1.0}, "--at -1"),
        ({"at": 99.0}, "the recording ends at 14.00"),
        ({"at": float("nan")}, "--at nan"),
        ({"at": 8.3, "question": "colour"}, "--question 'colour'"),
        ({"at": 8.3, "what_if": {"colour": 1}}, "'colour' is not known"),
    ],
)
def test_wrong_questions_are_one_line(
    clip: Path, match: dict[str, Any], tmp_path: Path, more: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        check_match(match, clip, out=tmp_path / "out", **more)
    assert "\n" not in str(caught.value)


def test_no_shot_no_judgement(clip: Path, match: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no shot was seen"):
        check_match({**match, "shots": []}, clip, at=8.3, out=tmp_path)


# -- pieces ------------------------------------------------------------------------------------------------------------
def test_frames_around_both_instants() -> None:
    times = [k / 30 for k in range(60)]
    assert decisive(times, [1.01], 4) == [29, 30, 31, 32]
    assert decisive(times, [0.51, 1.51], 4) == [15, 16, 45, 46]
    assert decisive(times[:2], [0.01], 4) == [0, 1]


@pytest.mark.parametrize("middle", [(5, 5), (635, 355), (320, 180), (np.nan, np.nan), (-500, 9000)])
def test_crop_stays_inside(middle: tuple[float, float]) -> None:
    x0, y0, x1, y1 = crop_box(np.array(middle), 9.0, 640, 360)
    assert 0 <= x0 < x1 <= 640
    assert 0 <= y0 < y1 <= 360
    assert (x1 - x0) / (y1 - y0) == pytest.approx(4 / 3, rel=0.05)


def test_diagram_of_each_width_keeps_its_texts_inside(match: dict[str, Any], clip: Path) -> None:
    """Names lie on the map and away from the balls; frames too close for a word on each have one between them."""
    course, cameras = Course(match), Cameras(match)
    dispute = examine(match, 2, 8.3, "first-contact", words("hu"))
    times = [8.29 + k / 8000 for k in range(200)]
    for layout in (WIDE, NARROW):
        drawn = draw(match, 2, dispute, course, cameras, times, words("hu"), layout)
        texts = [s for s in drawn.shapes if s.text]
        for shape in texts:
            (x, y), half = shape.points[0], text_width(shape.text, shape.size) / 2
            begin = {"start": x, "middle": x - half, "end": x - 2 * half}[shape.anchor]
            assert 0 <= begin <= begin + 2 * half <= layout.width, shape.text
            assert 0 <= y <= layout.height
        assert sum(s.text == "kép" for s in texts) == 1
        names = {s.text: np.array(s.points[0]) for s in drawn.shapes[: drawn.inside] if s.text}
        assert {"fehér golyó", "2", "5"} <= names.keys()
        apart = [math.dist(names[a], names[b]) for a, b in (("2", "5"), ("2", "fehér golyó"), ("5", "fehér golyó"))]
        assert min(apart) > 17


def test_ellipse_holds_ninety_five_percent() -> None:
    cov = np.array([[4e-6, 1e-6], [1e-6, 2e-6]])
    rim = ellipse((0.5, 1.0), cov) - (0.5, 1.0)
    assert np.einsum("ni,ij,nj->n", rim, np.linalg.inv(cov), rim) == pytest.approx(5.99, abs=0.01)
