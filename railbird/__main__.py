"""The ``railbird`` program. Rules start at once: ``adjudicate`` loads nothing but the standard library."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command in ``sys.argv``; returns the exit status."""
    if sys.argv[1:2] == ["adjudicate"]:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(encoding="utf-8")
        from railbird.adjudicate import main as adjudicate

        return adjudicate(sys.argv[2:])
    from railbird.cli import main as rest

    return rest() or 0


if __name__ == "__main__":
    sys.exit(main())
