"""The course's exercises: what learners edit, how it is checked, and why a check can be trusted."""
