"""Making a model smaller, and judging what that cost."""
