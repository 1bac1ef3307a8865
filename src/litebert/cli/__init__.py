"""The command line: one file a verb, each a thin face of a function that Python calls alike."""
