"""Lets a notebook's source run as a plain script: `import exercises` finds the course's exercises.

`python notebooks/source/04_kv_cache.py` puts this folder first on the path, not the repository.
A notebook's first cell does the same by finding the repository.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))
__path__ = [str(ROOT / "exercises")]
