"""Makes the files of the top-level folder kernels/ importable as minillm.kernels.NAME."""

from pathlib import Path

__path__.append(str(Path(__file__).resolve().parents[2] / "kernels"))
