"""Exercise 1.2: what does one step cost?

A **step** sends `rows` tokens through the model at once. To a computer the model is a list of
matrices. Row t of the input (I numbers) times a matrix [O, I] gives O numbers.

- Arithmetic: every weight meets every row in one multiplication and one addition, 2 FLOPs.
- Bytes: every matrix is read ONCE, for all rows together. Every row is read (I numbers) and its
  result is written (O numbers). All numbers have the same size.
- **Intensity** is FLOPs for each byte moved.
"""


def step_cost(matrices: list[tuple[int, int]], rows: int, bytes_per_number: float) -> dict:
    """matrices: a list of (O, I). Returns {"flops": ..., "bytes": ..., "intensity": ...}.

    flops and bytes are sums over all matrices; intensity is one quotient, for the whole step.
    Call the bytes moved.
    """
    raise NotImplementedError("Exercise 1.2: FLOPs, bytes and intensity of one step")
