"""Experiments on models: what a claim of the papers comes to on this machine."""
