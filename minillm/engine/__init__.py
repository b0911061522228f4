"""The engine: many requests at once. Kept empty so that the scheduler needs no torch."""
