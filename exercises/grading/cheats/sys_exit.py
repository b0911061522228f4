"""Ends the process with success while it is loaded."""

# exercise: 0.2
# ends: crashed

import sys

sys.exit(0)
