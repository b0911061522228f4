"""Exercise 3.5: a stop string may lie across several tokens.

The user says: end the answer at `stop` ("</answer>", say), and do not show it. The text arrives in
pieces, one a token, and a stop string can begin in one piece and end in a later one. What has been
shown cannot be taken back. So keep back the longest end of the text that may be the beginning of
`stop`, and nothing more.

`held` is the text kept back so far, `new` the next piece. Return three things:

- the text to show now;
- the text to keep back ("" once stopped);
- True if the stop string is complete. Then show only what stands before it.

Name for `trace`: text is held + new.
"""


def pass_on(held: str, new: str, stop: str) -> tuple[str, str, bool]:
    """stop: not empty. Returns (text to show, text to keep back, stopped)."""
    raise NotImplementedError("Exercise 3.5: show what is certain, keep a possible beginning")
