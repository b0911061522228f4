"""The file name of every exercise as the course tracks it: a deleted file comes back under it."""

from __future__ import annotations

NAMES = {
    "0.1": "ex1_pool_rows.py",
    "0.2": "ex2_scale_rows.py",
    "0.3": "ex3_split_heads.py",
    "0.4": "ex4_model_bytes.py",
    "1.1": "ex1_matrix_bytes.py",
    "1.2": "ex2_step_cost.py",
    "1.3": "ex3_blank_speed.py",
    "1.4": "ex4_step_seconds.py",
    "1.5": "ex5_who_took_the_time.py",
    "1.6": "ex6_reading_and_writing.py",
    "1.7": "ex7_largest_batch.py",
    "2.1": "ex1_rms_norm.py",
    "2.2": "ex2_rope.py",
    "2.3": "ex3_attention.py",
    "2.4": "ex4_grouped_heads.py",
    "2.5": "ex5_gated_mlp.py",
    "2.6": "ex6_block.py",
    "2.7": "ex7_heads_hunt.py",
    "2.8": "ex8_rope_hunt.py",
    "2.9": "ex9_rounding.py",
    "3.1": "ex1_greedy_loop.py",
    "3.2": "ex2_keep_likely.py",
    "3.3": "ex3_perplexity.py",
    "3.4": "ex4_streaming_decoder.py",
    "3.5": "ex5_stop_string.py",
    "3.6": "ex6_count_tokens.py",
    "3.7": "ex7_end_of_text.py",
    "4.1": "ex1_nothing_changes.py",
    "4.2": "ex2_append_and_attend.py",
    "4.3": "ex3_causal_mask.py",
    "4.4": "ex4_kv_bytes.py",
    "4.5": "ex5_outgrows.py",
    "4.6": "ex6_growing_cache.py",
    "4.7": "ex7_sliding_window.py",
    "4.8": "ex8_find_the_fault.py",
    "5.1": "ex1_static_batches.py",
    "5.2": "ex2_continuous_timeline.py",
    "5.3": "ex3_metrics.py",
    "5.4": "ex4_gain.py",
    "5.5": "ex5_how_many_seats.py",
    "5.6": "ex6_greedy_neighbour.py",
    "5.7": "ex7_left_padding.py",
}


def name_of(exercise_id: str) -> str:
    """The tracked name of a learner's file; a plain one for an exercise not listed above."""
    return NAMES.get(exercise_id, f"ex{exercise_id.split('.')[1]}_answer.py")
