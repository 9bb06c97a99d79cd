"""OpenVINO without its model converter: that part brings a telemetry package along, and a second of import for nothing."""

from __future__ import annotations

import sys
from typing import Any

_CONVERTER = "openvino.tools.ovc"


def openvino() -> Any:
    """The ``openvino`` package. Its converter stays out, unless something else has already brought it in."""
    if "openvino" not in sys.modules:
        sys.modules[_CONVERTER] = None  # type: ignore[assignment]  # makes the import fail, which openvino expects
        try:
            import openvino as package
        finally:
            del sys.modules[_CONVERTER]
        return package
    return sys.modules["openvino"]
