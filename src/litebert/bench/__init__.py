"""Measurements: us beside a peer in one run, and both beside what the machine can do."""
