"""From documents to what a model is fed."""
