"""The command line: every command of railbird, its options in words, and errors as one line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from calibration.errors import InputError, RailbirdError
from railbird.games import GAMES, QUESTIONS, RULE_SETS, one_of

app = typer.Typer(
    name="railbird",
    help="A pool referee that watches: finds the table, follows the balls, and says what the rules make of it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Game = Annotated[str, typer.Option("--game", help=f"{', '.join(GAMES)}")]
Rules = Annotated[str, typer.Option("--rules", help=f"{', '.join(RULE_SETS)}")]
Players = Annotated[str, typer.Option("--players", help="two names, A,B; the first shoots first")]
Language = Annotated[str, typer.Option("--language", help="of what people read: en, hu, et")]
AsJson = Annotated[bool, typer.Option("--json", help="print the result document on stdout, alone")]
Out = Annotated[Path | None, typer.Option("--out", help="folder of the result; named after the source if not given")]
TableFile = Annotated[Path | None, typer.Option("--table", help="table.json of an earlier `railbird calibrate`")]
Setup = Annotated[
    Path | None,
    typer.Option("--setup", help="a file that says what lies on the table, for a clip that starts in mid-rack"),
]
Calls = Annotated[Path | None, typer.Option("--calls", help="a text file of calls: 'shot 4: 3 side-left'")]


def say(text: str) -> None:
    """A line for people, on stderr, so that stdout holds results alone."""
    print(text, file=sys.stderr)


def show(document: dict[str, Any]) -> None:
    json.dump(document, sys.stdout, ensure_ascii=False, indent=1)
    sys.stdout.write("\n")


@app.command()
def demo(out: Annotated[Path, typer.Option("--out", help="folder for the result")] = Path("railbird-demo")) -> None:
    """Analyse a clip that ships with railbird and say where its report is."""
    from railbird.demo import run

    report = run(out)
    print(f"The report is {report}")


@app.command()
def analyse(
    video: Annotated[str, typer.Argument(help="a video file or a folder of frames")],
    game: Game,
    rules: Rules = "wpa-2025",
    players: Players = "A,B",
    calls: Calls = None,
    setup: Setup = None,
    table: TableFile = None,
    out: Out = None,
    length: Annotated[float | None, typer.Option(help="length of the table, nose to nose, metres")] = None,
    language: Language = "en",
    clips: Annotated[str | None, typer.Option(help="cut clips: all, or fouls")] = None,
    video_out: Annotated[bool, typer.Option("--annotated/--no-annotated", help="draw annotated.mp4")] = True,
    weights: Annotated[Path | None, typer.Option(help="other detector weights")] = None,
    as_json: AsJson = False,
) -> None:
    """Analyse a recorded match: rulings, report, annotated video, shots, chapters."""
    from railbird.pipeline import Options, run

    options = Options(
        game=one_of("game", game, GAMES),
        rules=one_of("rules", rules, RULE_SETS),
        players=two_names(players),
        calls=calls,
        setup=setup,
        table=table,
        length_m=length,
        language=one_of("language", language, ("en", "hu", "et")),
        clips=None if clips is None else one_of("clips", clips, ("all", "fouls")),
        annotated=video_out,
        weights=weights,
    )
    folder = out or Path(Path(video).stem + ".railbird")
    result = run(video, folder, options)
    if as_json:
        show(result)
    else:
        print(f"shots: {len(result['shots'])}; the report is {folder / 'report.html'}")


@app.command()
def calibrate(
    source: Annotated[str, typer.Argument(help="a video or a picture")],
    length: Annotated[float | None, typer.Option(help="length of the table, nose to nose, metres")] = None,
    corners: Annotated[
        tuple[str, str, str, str] | None, typer.Option(help="four corners by hand: X,Y X,Y X,Y X,Y (pixels, any order)")
    ] = None,
    pick: Annotated[int, typer.Option(help="which table, where the picture holds several; 0 is the likeliest")] = 0,
    out: Annotated[Path | None, typer.Option("--out", help="file of the result; table.json if not given")] = None,
    as_json: AsJson = False,
) -> None:
    """Find the table: table.json and a preview picture; exit 2 with the reason where it cannot be found."""
    from railbird.calibrate import run

    points = None if corners is None else [point(text) for text in corners]
    target = out or Path("table.json")
    result = run(source, length=length, corners=points, pick=pick, out=target)
    if as_json:
        show(result)
    else:
        print(f"table found, residual {result['table']['rms_px']:.2f} px; written to {target}")


@app.command()
def detect(
    source: Annotated[str, typer.Argument(help="a picture, a folder of pictures, or a video")],
    out: Annotated[Path, typer.Option("--out", help="COCO-style JSON")],
    draw: Annotated[Path | None, typer.Option(help="folder for pictures with what was found")] = None,
    weights: Annotated[Path | None, typer.Option(help="other detector weights")] = None,
    backend: Annotated[str | None, typer.Option(help="openvino, onnx or torch")] = None,
) -> None:
    """Find the balls in pictures; no calibration needed."""
    from railbird.detect import run

    run(source, out=out, draw=draw, weights=weights, backend=backend)


@app.command()
def live(
    source: Annotated[str | None, typer.Option("--source", help="camera number, address or file")] = None,
    game: Annotated[str | None, typer.Option("--game", help=", ".join(GAMES))] = None,
    rules: Annotated[str | None, typer.Option("--rules", help=", ".join(RULE_SETS))] = None,
    players: Annotated[str | None, typer.Option("--players", help="two names, A,B; the first breaks first")] = None,
    race_to: Annotated[int | None, typer.Option("--race-to", help="racks to win")] = None,
    port: Annotated[int | None, typer.Option(help="of the web page; 8765 if not said otherwise")] = None,
    host: Annotated[str | None, typer.Option(help="127.0.0.1 keeps the page to this machine; 0.0.0.0 opens it")] = None,
    speak: Annotated[bool, typer.Option("--speak", help="also speak on this machine, through espeak-ng")] = False,
    config: Annotated[Path | None, typer.Option(help="club.toml with all of this, see docs/club.toml")] = None,
    language: Annotated[str | None, typer.Option("--language", help="of pages and voice: en, hu, et")] = None,
    length: Annotated[float | None, typer.Option(help="length of the table, nose to nose, metres")] = None,
    data: Annotated[Path | None, typer.Option("--data", help="folder of matches, clips and join codes")] = None,
    new: Annotated[bool, typer.Option("--new", help="begin a match, also where one was being played")] = False,
) -> None:
    """Referee a table live: web page, spoken calls, match log."""
    from railbird.live import serve

    serve(
        source=source,
        game=game,
        rules=rules,
        players=None if players is None else two_names(players),
        race_to=race_to,
        host=host,
        port=port,
        speak=speak,
        config=config,
        language=language,
        length=length,
        data=data,
        new=new,
    )


@app.command()
def matches(
    match: Annotated[str | None, typer.Argument(help="one match of the live log; without it, the list")] = None,
    data: Annotated[Path | None, typer.Option("--data", help="folder of matches, as in `railbird live`")] = None,
    script: Annotated[Path | None, typer.Option("--script", help="write it as lines for `railbird adjudicate`")] = None,
    export: Annotated[Path | None, typer.Option("--export", help="write it as match.json")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="write its report, an HTML page")] = None,
) -> None:
    """Past live matches: list them, take one away as script, match.json or report."""
    from railbird.live.export import run

    run(match, data=data, script=script, export=export, report=report, show=print)


@app.command()
def check(
    video: Annotated[str, typer.Argument(help="the clip in dispute")],
    at: Annotated[float, typer.Option("--at", help="the moment, seconds from the start")],
    game: Game,
    question: Annotated[str | None, typer.Option(help=", ".join(QUESTIONS))] = None,
    rules: Rules = "wpa-2025",
    players: Players = "A,B",
    calls: Calls = None,
    setup: Setup = None,
    table: TableFile = None,
    out: Out = None,
    language: Language = "en",
    what_if: Annotated[Path | None, typer.Option("--what-if", help="a changed fact: JSON file")] = None,
    as_json: AsJson = False,
) -> None:
    """The disputed call: verdict, how sure, the rule, the other reading, frames and slow motion."""
    from railbird.check import run

    result = run(
        video,
        at=at,
        game=one_of("game", game, GAMES),
        question=None if question is None else one_of("question", question, QUESTIONS),
        rules=one_of("rules", rules, RULE_SETS),
        players=two_names(players),
        calls=calls,
        setup=setup,
        table=table,
        out=out or Path(Path(video).stem + ".check"),
        language=one_of("language", language, ("en", "hu", "et")),
        what_if=what_if,
    )
    if as_json:
        show(result)
    else:
        print(f"{result['answer']} (p {result['p']:.2f}); the page is {result['files'][0]}")


@app.command()
def evaluate(
    result: Annotated[Path, typer.Argument(help="match.json to judge")],
    truth: Annotated[Path, typer.Argument(help="match.json that holds the truth")],
) -> None:
    """Compare a match.json with the truth."""
    from railbird.evaluate import run

    show(run(result, truth))


@app.command()
def bench(
    video: Annotated[str, typer.Argument(help="a video file")],
    game: Game = "9-ball",
    baseline: Annotated[bool, typer.Option("--baseline", help="also time a plain ultralytics track() loop")] = False,
) -> None:
    """Time decoding alone and decoding to match.json; peak memory."""
    from railbird.bench import run

    show(run(video, game=one_of("game", game, GAMES), baseline=baseline))


@app.command()
def report(
    match: Annotated[Path, typer.Argument(help="match.json")],
    out: Out = None,
    language: Annotated[str | None, typer.Option(help="en, hu, et")] = None,
    embed: Annotated[bool, typer.Option("--embed", help="put the video into the page: one file to carry")] = False,
    calls: Calls = None,
) -> None:
    """Write the pages again from match.json, without the video analysis."""
    from railbird.report import rebuild

    print(f"The report is {rebuild(match, out=out, language=language, embed=embed, calls=calls)}")


@app.command()
def overrule(
    match: Annotated[Path, typer.Argument(help="match.json")],
    shot: Annotated[int, typer.Option("--shot", help="number of the shot that was seen wrongly")],
    facts: Annotated[Path, typer.Option("--facts", help="JSON file with the right facts")],
) -> None:
    """Correct a shot's facts; every ruling from there on follows."""
    from railbird.overrule import run

    result = run(match, shot=shot, facts=facts)
    print(f"shot {shot} corrected; shots ruled again in {match}: {len(result['shots'])}, and in the pages beside it")


@app.command()
def render(
    out: Annotated[Path, typer.Option("--out", help="folder for clips and truth, or pictures and labels")],
    scenes: Annotated[list[str] | None, typer.Argument(help="scene files or names, or random:SEED")] = None,
    dataset: Annotated[int | None, typer.Option(help="make this many labelled pictures instead of clips")] = None,
    seed: Annotated[int, typer.Option(help="of the pictures")] = 0,
    size: Annotated[str, typer.Option(help="of the pictures, WIDTHxHEIGHT")] = "960x540",
    fps: Annotated[float | None, typer.Option(help="frames a second of the clips, in place of the scenes' own")] = None,
) -> None:
    """Draw clips with their truth, by simulated physics."""
    from railbird.render import run

    if not scenes and dataset is None:
        raise InputError("nothing to draw: give scenes (names, files or random:SEED), or --dataset N for pictures")
    try:
        width, height = (int(part) for part in size.split("x"))
    except ValueError:
        raise InputError(f"--size {size!r}: give WIDTHxHEIGHT in pixels, such as 960x540") from None
    run(scenes or [], out=out, dataset=dataset, seed=seed, fps=fps, size=(width, height))


@app.command()
def train(
    data: Annotated[list[Path], typer.Argument(help="folders of labelled pictures")],
    out: Annotated[Path, typer.Option("--out", help="folder for the weights")],
    epochs: Annotated[int, typer.Option(help="passes over the pictures")] = 30,
    resume: Annotated[bool, typer.Option("--resume", help="go on from the last checkpoint")] = False,
) -> None:
    """Train the ball detector on labelled pictures."""
    from railbird.training import train as run

    run(data, out=out, epochs=epochs, resume=resume)


@app.command()
def tune(
    video: Annotated[str, typer.Argument(help="a recording from the venue")],
    out: Annotated[Path, typer.Option("--out", help="folder for the tuned weights")],
) -> None:
    """Fit the detector to a venue from a recording; keeps the old weights if the new are not better."""
    from railbird.training import tune as run

    show(run(video, out=out))


@app.command(context_settings={"ignore_unknown_options": True})
def adjudicate(script: Annotated[str, typer.Argument(help="a script of JSON lines; - reads stdin")]) -> None:
    """Rules only: a match as JSON lines in, rulings out."""
    from railbird.adjudicate import main as run

    raise typer.Exit(run([script]))


def two_names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise InputError(f"--players {text!r}: give two different names, A,B")
    return names


def point(text: str) -> tuple[float, float]:
    try:
        x, y = text.split(",")
        return float(x), float(y)
    except ValueError:
        raise InputError(f"--corners {text!r}: give points as X,Y in pixels") from None


def main(argv: list[str] | None = None) -> int:
    """Run a command; returns the exit status of FORMATS: 0 done, 2 the input is at fault, 1 a fault of ours."""
    os.environ.setdefault("YOLO_OFFLINE", "true")
    try:
        status = app(args=argv, prog_name="railbird", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except InputError as error:
        say(f"railbird: {' '.join(str(error).split())}")
        return 2
    except typer.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        say("railbird: stopped")
        return 130
    except BrokenPipeError:
        return 0
    except RailbirdError as error:
        say(f"railbird: {error}")
        return 1
    except Exception as error:
        # Newer typer carries its own copy of click, so its usage errors are told by what they can do.
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        say(f"railbird: {' '.join(message().split())}; see `railbird --help`")
        return 2
