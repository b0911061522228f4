"""The course's exercises: what learners edit, how it is checked, and why a check can be trusted."""

import sys


def load_ipython_extension(shell):
    """`%load_ext exercises`: the magics %%exercise and %exercise."""
    from exercises.desk.magic import register

    register(shell)


if "IPython" in sys.modules:  # in a notebook the import alone is enough
    _shell = getattr(sys.modules["IPython"], "get_ipython", lambda: None)()
    if _shell is not None:
        load_ipython_extension(_shell)
