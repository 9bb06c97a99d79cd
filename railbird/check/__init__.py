"""The disputed call: from a recording and a moment to a verdict with its probability, pictures, the other reading and limits."""

from __future__ import annotations

import importlib
import json
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from calibration.errors import InputError
from calibration.table import Table
from railbird import result
from railbird.games import QUESTIONS
from railbird.words import words


def run(
    video: str | Path,
    *,
    at: float,
    game: str,
    question: str | None = None,
    rules: str = "wpa-2025",
    players: list[str] | None = None,
    calls: str | Path | None = None,
    setup: str | Path | None = None,
    table: str | Path | None = None,
    out: str | Path,
    language: str = "en",
    what_if: str | Path | Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Analyse a recording and answer a question about a moment of it; pages and pictures go into ``out``.

    Parameters
    ----------
    at : the moment, seconds from the first frame.
    question : one of ``QUESTIONS``; the one that matters most there where not given.
    what_if : facts to rule the shot again under, as ``railbird overrule`` takes them, or a file of them.

    Returns
    -------
    The document of ``check --json``.

    Raises
    ------
    InputError
        Where the recording, the moment or the facts are at fault.
    """
    from railbird.pipeline import Options, analyse_video

    _check_moment(at, question)
    options = Options(
        game=game,
        rules=rules,
        players=players or ["A", "B"],
        calls=None if calls is None else Path(calls),
        setup=None if setup is None else Path(setup),
        table=None if table is None else Path(table),
        language=language,
        moment=at,
    )
    threading.Thread(target=_get_ready, name="imports", daemon=True).start()
    match = analyse_video(str(video), options)
    return check_match(match, video, at=at, question=question, out=out, language=language, what_if=what_if)


def check_match(
    match: Mapping[str, Any],
    video: str | Path,
    *,
    at: float,
    question: str | None = None,
    out: str | Path,
    language: str | None = None,
    what_if: str | Path | Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The same from a match that was analysed already; :func:`run` says what the rest means.

    Files: ``check.html`` (self-contained), ``check.png`` and ``check.pdf`` (one page to send), ``slow.mp4``, ``check.json``.
    """
    from railbird.check.diagram import NARROW, draw
    from railbird.check.limits import cannot_show, hidden_balls, sight
    from railbird.check.page import document, film_row, page, reruled
    from railbird.check.pictures import look, slow_motion, stills
    from railbird.check.question import examine, shot_near, sole_contact, which_question
    from railbird.check.sheet import sheet
    from railbird.drawing.course import Cameras, Course
    from railbird.overrule import read_facts
    from railbird.report import render_page

    _check_moment(at, question)
    folder = Path(out)
    catalogue = words(language or match.get("language"))
    duration = (match.get("source") or {}).get("duration_s")
    if duration and at > duration:
        raise InputError(f"--at {at:g}: the recording ends at {duration:.2f} s")
    i = shot_near(match, at)
    if i is None:
        raise InputError(f"--at {at:g}: no shot was seen in {video}, so there is nothing to judge")
    facts = read_facts(what_if) if isinstance(what_if, (str, Path)) else what_if
    given = None
    if facts is not None:
        given = reruled(match, i, facts)
        if given is None:
            raise InputError(f"--what-if: with these facts the rules refuse shot {match['shots'][i]['number']}")
    shots = list(match["shots"])
    shots[i] = sole_contact(shots[i])
    match = {**match, "shots": shots}
    dispute = examine(match, i, at, question or which_question(match["shots"][i], at), catalogue)
    other = _other(match, i, dispute.otherwise)
    course, cameras = Course(match), Cameras(match)
    window = look(video, match, dispute, cameras)
    pictures = stills(window, match, dispute, course, cameras)
    film = folder / "slow.mp4"
    with ThreadPoolExecutor(1) as pool:  # the film is made beside the rest of the page
        rolling = pool.submit(slow_motion, window, match, dispute, course, cameras, film, catalogue)
        diagram = draw(match, i, dispute, course, cameras, window.times, catalogue)
        narrow = draw(match, i, dispute, course, cameras, window.times, catalogue, NARROW)
        seen = sight(match, i, dispute, course, cameras, window.times)
        hidden = hidden_balls(dispute, course, cameras, Table.from_json(match["table"]))
        limits = cannot_show(dispute, seen, hidden, catalogue)
        content = page(
            match,
            i,
            at,
            dispute,
            limits=limits,
            other=other,
            given=given,
            stills=pictures,
            diagrams=(diagram, narrow),
            words=catalogue,
        )
        html, told = folder / "check.html", folder / "check.json"
        picture, paper = folder / "check.png", folder / "check.pdf"
        for path, data in zip((picture, paper), sheet(content, pictures, diagram), strict=True):
            result.write_bytes(path, data)
        content["film"] = film_row(film, rolling.result(), catalogue)
    result.write_text(html, render_page("check.html.j2", content, script="check.js"))
    files = [str(path) for path in (html, picture, paper, film, told)]
    answer = document(match, i, dispute, limits, other, files)
    if given is not None:
        answer["what_if"] = {"facts": json.loads(json.dumps(facts)), "ruling": given[1]}
    result.write_json(told, answer)
    return answer


def _get_ready() -> None:
    """Load what is needed after the recording was watched, while its table is being found."""
    for name in (
        "tracking.analyse",
        "railbird.script",
        "railbird.check.page",
        "railbird.check.sheet",
        "railbird.report",
    ):
        importlib.import_module(name)


def _other(match: Mapping[str, Any], i: int, facts: Mapping[str, Any] | None) -> Any:
    from railbird.check.page import reruled

    if facts is None:
        return None
    try:
        return reruled(match, i, facts)
    except InputError:
        return None  # the rules know no such shot: there is no other reading to show


def _check_moment(at: float, question: str | None) -> None:
    if not at >= 0:
        raise InputError(f"--at {at:g}: seconds from the start, 0 or more")
    if question is not None and question not in QUESTIONS:
        raise InputError(f"--question {question!r} is not known: one of {', '.join(QUESTIONS)}")
