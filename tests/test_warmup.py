"""The warm-up page: every line of it gives what the page says."""

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "warmup.md"


def test_warm_up_page_says_what_python_says():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 20 and failed == 0
