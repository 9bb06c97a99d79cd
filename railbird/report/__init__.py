"""The report of a match: one self-contained HTML page made from ``match.json``."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from calibration.errors import InputError
from railbird import result
from railbird.report.top_view import STYLE, symbols
from railbird.report.view import page
from railbird.words import words

EMBED_LIMIT = 64 * 2**20  # a page much larger than this opens slowly on a phone


def render(
    match: Mapping[str, Any],
    *,
    language: str | None = None,
    clip: str | Path | None = None,
    embed: bool = False,
) -> str:
    """The page as text.

    Parameters
    ----------
    match : a ruled ``match.json``.
    language : en, hu, et; what the match was analysed in where not given.
    clip : the video that the page plays: a name beside the page, or with ``embed`` the file to put into it.
    embed : put the video's bytes into the page, so that one file is all there is to carry.

    Raises
    ------
    InputError
        Where a field of ``match`` is wrong, or the clip to embed cannot be read or is too large.
    """
    result.check(match)
    catalogue = words(language or match.get("language"))
    video = None
    if clip is not None:
        address = data_address(Path(clip), "video/mp4") if embed else _beside(Path(clip).name)
        source = match.get("source") or {}
        frames, duration = source.get("frames"), source.get("duration_s")
        rate = frames / duration if frames and duration else 30.0
        video = {"src": address, "name": Path(clip).name, "frame_s": round(1 / rate, 6)}
    return render_page("report.html.j2", page(match, catalogue) | {"video": video}, script="report.js")


def write(
    match: Mapping[str, Any],
    folder: str | Path,
    *,
    language: str | None = None,
    clip: str | Path | None = None,
    embed: bool = False,
) -> Path:
    """Write ``report.html`` into ``folder``; :func:`render` says what the arguments mean."""
    path = Path(folder) / "report.html"
    result.write_text(path, render(match, language=language, clip=clip, embed=embed))
    return path


def rebuild(
    match: str | Path,
    *,
    out: str | Path | None = None,
    language: str | None = None,
    embed: bool = False,
    calls: str | Path | None = None,
) -> Path:
    """The pages of a ``match.json`` again, without the video analysis: ``report.html``, ``shots.csv``, ``chapters.vtt``.

    Parameters
    ----------
    out : folder; the one that holds ``match.json`` where not given.
    calls : file of calls that were not known before: the shots are ruled again with them, in ``match.json`` too.

    Returns
    -------
    Where ``report.html`` is.
    """
    from railbird.chapters import write_chapters, write_shots

    path = Path(match)
    document = result.read(path)
    if calls is not None:
        from railbird.script import rule

        document = rule(document, calls=calls)
        result.write(path, document)
    folder = path.parent if out is None else Path(out)
    beside = [f for place in (folder, path.parent) for f in (place / "annotated.mp4", *sorted(place.glob("source.*")))]
    clip = next((file for file in beside if file.is_file()), None)
    if clip is not None and clip.parent != folder and not embed:
        clip = None  # a link into another folder breaks as soon as the report is carried elsewhere
    report = write(document, folder, language=language, clip=clip, embed=embed)
    write_shots(document, folder / "shots.csv")
    write_chapters(document, folder / "chapters.vtt", language=language)
    return report


# -- pages of ours -----------------------------------------------------------------------------------------------------
def render_page(template: str, values: Mapping[str, Any], *, script: str) -> str:
    """Fill a template; style and script go into the page, and its policy allows just this script and no network."""
    code = _asset(script)
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:;"
        " media-src * data: blob:; base-uri 'none'; form-action 'none'"
    )
    return (
        _environment()
        .get_template(template)
        .render(
            **values,
            style=Markup(_asset("style.css") + STYLE),
            script=Markup(code),
            symbols=Markup(symbols()),
            policy=policy,
        )
    )


def data_address(path: Path, kind: str) -> str:
    """A file's bytes as a ``data:`` address."""
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror or problem}) to put it into the page") from None
    if len(data) > EMBED_LIMIT:
        raise InputError(
            f"{path}: {len(data) / 2**20:.0f} MiB are too much to put into a page; leave it beside the page"
        )
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def _beside(name: str) -> str:
    from urllib.parse import quote

    return quote(name)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(_asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


@cache
def _asset(name: str) -> str:
    return files("railbird.report").joinpath("templates", name).read_text(encoding="utf-8")
