"""How do weights move? The rule and its schedule as plain values, what learns and how fast, and the step itself."""
