"""Other right answers of 7.5: in the band."""


def ridge_of_200_rows(prompt):
    """A step of up to 200 tokens takes as long as one of 200."""
    return [max(200, round(part * prompt)) * 44.7 / 200 for part in (1, 0.5, 0.1)]


def in_the_head(prompt):
    return [prompt * 0.2, prompt * 0.1, 50]
