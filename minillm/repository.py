"""Where the course lives: the one place that holds the repository's address.

The first cell of every notebook (on Colab it fetches the course) and the README take it from here.
Set it once, then run `make notebooks`.
"""

ADDRESS = "https://github.com/minillm-course/minillm"
