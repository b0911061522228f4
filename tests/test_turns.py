"""Functions timed in turns: who runs when, and that the warm-up is not counted."""

from minillm import turns


def test_all_run_every_time_and_the_order_turns_round(monkeypatch):
    now, ran = [0.0], []
    monkeypatch.setattr(turns.time, "perf_counter", lambda: now[0])

    def work(name, *seconds):
        left = list(seconds)

        def run():
            ran.append(name)
            now[0] += left.pop(0)

        return run

    works = lambda: {"a": work("a", 100, 1, 2, 6), "b": work("b", 50, 4, 4, 4)}
    assert turns.times_in_turns(works(), 3) == {"a": [1, 2, 6], "b": [4, 4, 4]}
    assert "".join(ran) == "abbaabba"
    assert turns.in_turns(works(), 3) == {"a": 2, "b": 4}
