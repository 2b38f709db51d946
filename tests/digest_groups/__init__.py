"""Groups of models that digests.py trains, a file for each domain; importing the package registers them all."""

from digest_groups import (  # noqa: F401
    alignment,
    classes,
    clustering,
    counting,
    decisions,
    diversity,
    fitted,
    graphs,
    motifs,
    parsing,
    ranking,
    sequences,
    structured,
)
