"""Other right answers of 3.5."""


def with_partition(held, new, stop):
    before, found, _ = (held + new).partition(stop)
    if found:
        return before, "", True
    starts = [i for i in range(len(before)) if stop.startswith(before[i:])]
    cut = starts[0] if starts else len(before)
    return before[:cut], before[cut:], False


def letter_by_letter(held, new, stop):
    shown, kept = "", held
    for letter in new:
        kept += letter
        if kept.endswith(stop):
            return shown + kept.removesuffix(stop), "", True
        while not stop.startswith(kept):
            shown, kept = shown + kept[0], kept[1:]
    return shown, kept, False
