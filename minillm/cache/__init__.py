"""Memories: where keys and values live. Kept empty so that blocks.py needs no torch."""
