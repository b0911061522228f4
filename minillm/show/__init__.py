"""Pictures for the notebooks: one palette, readable in grey and by the colour-blind.

Every function returns a Picture (or a Widget, a Table): let it be the last line of a cell, and the
notebook shows it with its alt text. matplotlib is imported with the first picture.
"""

from minillm.show.batching import batches, latency
from minillm.show.blocks import block_size_slider, blocks_of, pool_map
from minillm.show.canvas import PALETTE, SERIES, Picture
from minillm.show.capstone import served
from minillm.show.kernels import moved_sectors, programs, sectors, tree
from minillm.show.memory import Block, Load, block_map, layer_map, seats, timelines
from minillm.show.packed import nibbles, seat_bar, seats_filling
from minillm.show.planner import plan_bar, plan_slider, plans_table
from minillm.show.pruned import (
    by_sparsity,
    format_bytes,
    grouped,
    kept_maps,
    pruned_table,
    survival,
    two_of_four,
)
from minillm.show.quality import (
    by_method,
    by_task,
    channels,
    column_errors,
    fragility,
    quality_table,
    valley,
)
from minillm.show.schedule import (
    Planned,
    life_lines,
    planned,
    plans_of,
    prefix_tree,
    step_tokens,
)
from minillm.show.score import Table, calibration_plot, scoreboard
from minillm.show.shrunk import (
    by_layer,
    combinations_table,
    front,
    pareto,
    recovery,
    remaining,
)
from minillm.show.speed import (
    Panel,
    bars,
    lines,
    moving_dots,
    roofline,
    scaling,
    slope,
    stack,
    step_roofline,
)
from minillm.show.tokens import heatmap, next_token_bars, visible
from minillm.show.widget import Widget, widget

__all__ = [
    "PALETTE", "SERIES", "Picture", "Block", "Load", "Panel", "Planned", "Table", "Widget", "bars",
    "batches", "block_map", "block_size_slider", "blocks_of", "by_layer", "by_method",
    "by_sparsity", "by_task", "calibration_plot", "channels", "column_errors", "combinations_table",
    "float_bits", "format_bytes", "fragility", "front", "grouped", "heatmap", "kept_maps",
    "latency", "layer_map", "life_lines", "lines", "microscope", "moved_sectors", "moving_dots",
    "next_token_bars", "nibbles", "number_line", "pareto", "plan_bar", "plan_slider", "planned",
    "plans_of", "plans_table", "pool_map", "prefix_tree", "programs", "pruned_table",
    "quality_table", "recovery", "remaining", "roofline", "scaling", "scoreboard", "seat_bar",
    "seats", "seats_filling", "sectors", "served", "slope", "stack", "step_roofline", "step_tokens",
    "survival", "timelines", "tree", "two_of_four", "valley", "visible", "weight_row", "widget",
]  # fmt: skip


def __getattr__(name: str):
    """What needs torch is imported with its first use: a table of the scoreboard needs none."""
    if name in ("float_bits", "microscope", "number_line", "weight_row"):
        from minillm.show import numbers

        return getattr(numbers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
