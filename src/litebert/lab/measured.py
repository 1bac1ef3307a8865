"""How is a measure of the development set named and shown? Shares in percent, correlations as they are."""

from __future__ import annotations

from litebert.lab import axes, page, told

_NAMES = {
    "accuracy": "accuracy", "f1": "F1", "f1_macro": "macro F1", "f1_micro": "micro F1", "matthews": "Matthews",
    "pearson": "Pearson", "spearman": "Spearman", "exact": "exact match", "precision": "precision",
    "recall": "recall", "loss": "loss", "best_f1": "best F1", "best_exact": "best exact match",
    "average": "mean of exact match and F1",
}  # fmt: skip
_CORRELATIONS = ("matthews", "pearson", "spearman", "correlation")
_SHARES = ("accuracy", "f1", "exact", "precision", "recall", "average")


def name(measure: str) -> str:
    """A measure for people."""
    return _NAMES.get(measure.lower(), measure.replace("_", " "))


def is_share(measure: str) -> bool:
    """Whether it is counted in percent."""
    return not any(word in measure.lower() for word in _CORRELATIONS) and any(
        word in measure.lower() for word in _SHARES
    )


def unit(measure: str) -> str:
    """What stands behind its number."""
    return "%" if is_share(measure) else ""


def times(measure: str) -> float:
    """By what its number is multiplied before it is shown."""
    return 100.0 if is_share(measure) else 1.0


def plain(measure: str, value: float) -> str:
    """Its number without a unit: 91.2, 0.612."""
    if is_share(measure):
        return f"{100 * value:.1f}"
    return f"{value:.3f}" if abs(value) < 10 else axes.plain(value)


def show(measure: str, value: float) -> str:
    """Its number with its unit, exact for programs."""
    return page.number(value, told.percent(value) if is_share(measure) else plain(measure, value))


def bare(measure: str, value: float) -> str:
    """Its number without its unit, exact for programs."""
    return page.number(value, plain(measure, value))
