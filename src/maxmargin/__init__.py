"""Large-margin learning for structured outputs."""

__version__ = "0.1.0"
