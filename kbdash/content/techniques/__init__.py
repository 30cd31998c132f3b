"""What kernels do: techniques found in source texts by rules that are data."""

from kbdash.content.techniques.rules import WITHOUT, facet_names, rules
from kbdash.content.techniques.texts import evidence, facets_of

__all__ = ["WITHOUT", "evidence", "facet_names", "facets_of", "rules"]
