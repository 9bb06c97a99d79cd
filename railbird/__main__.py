"""The ``railbird`` program. Rules start at once: ``adjudicate`` loads nothing but the standard library."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run the command in ``sys.argv``; returns the exit status."""
    if sys.argv[1:2] == ["adjudicate"]:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                # A name may hold what no UTF-8 has: it goes out as JSON's own escape.
                stream.reconfigure(encoding="utf-8", errors="strict" if stream is sys.stdin else "backslashreplace")
        from railbird.adjudicate import main as adjudicate

        return adjudicate(sys.argv[2:])
    # Our matrices are small: a second BLAS thread only spins beside the decoder. Read when NumPy is first imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from railbird.cli import main as rest

    return rest() or 0


if __name__ == "__main__":
    sys.exit(main())
