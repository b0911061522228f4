"""The desk where a learner works: answers, progress, help, notebook magic, and a class's grades."""
