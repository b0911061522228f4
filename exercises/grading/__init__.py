"""The grader: runs an answer in a child process, judges what comes back in the parent."""
