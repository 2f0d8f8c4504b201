"""Questions to a corpus: patterns of words and arcs, counts with intervals."""
