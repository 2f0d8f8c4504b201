"""`arbora cluster`: clusters of words from their vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from arbora.cli.files import check_not_an_input, check_one_input, check_writable
from arbora.cli.output import write_json
from arbora.cli.progress import step_progress
from arbora.cli.shared import AsJson, Quiet, Threads
from arbora.cli.terminal import tell
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.features import WordClusters

EXAMPLES = """[bold]Examples[/bold]

arbora cluster glove.6B.100d.txt --words 100000 --output clusters.txt

arbora cluster cc.da.300.vec.gz --clusters 500 --output clusters.txt

arbora train train.conllu --dev dev.conllu --word-clusters clusters.txt --model da.arbora"""

_PASSES = 20


def cluster(
    vectors: Annotated[
        str,
        typer.Argument(
            metavar="VECTORS", help="Word vectors as text, of GloVe, word2vec or fastText."
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="The clusters, for --word-clusters; - is standard output."
        ),
    ],
    clusters: Annotated[
        int, typer.Option(min=2, max=10_000, metavar="N", help="Number of clusters.")
    ] = 1000,
    words: Annotated[
        int | None,
        typer.Option(
            min=2, metavar="N", help="Read the first N words only (default: all).",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TREEBANK",
            help="Write only words of this treebank, in any case; may be given several times.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Chooses the first centres.")] = 0,
    threads: Threads = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Cluster words by their vectors, for --word-clusters of train.

    Uses k-means over vectors of length 1. The names of the clusters are bit strings; similar
    clusters have a common prefix.
    """
    check_one_input(vectors, *(only or ()))
    if output == "-":
        if as_json:
            raise ArgumentError("--json and the clusters cannot both go to standard output.")
    else:
        check_writable(output)
        check_not_an_input(output, vectors, *(only or ()))

    from arbora.features import write_clusters
    from arbora.features.clustering import cluster_words
    from arbora.features.word_vectors import read_vectors
    from arbora.inference.packed import available_threads

    kept = None if not only else _forms(only)
    read = read_vectors(vectors, words)
    with step_progress("clustering", _PASSES, "passes", quiet=quiet) as bar:

        def show(number: int, changed: float) -> None:
            bar.reached(number)
            bar.show(changed=f"{100 * changed:.1f} %")

        found = cluster_words(
            read, clusters, seed, passes=_PASSES, threads=threads or available_threads(),
            progress=show,
        )  # fmt: skip
    if kept is not None:
        found = _restricted(found, kept)
    write_clusters(output, found)
    if as_json:
        write_json({
            "words_read": len(read), "dimensions": read.vectors.shape[1], "clusters": clusters,
            "words": len(found),
        })  # fmt: skip
    elif not quiet:
        tell(f"{len(read):,} words in {clusters:,} clusters; {len(found):,} of them are written.")


def _forms(treebanks: list[str]) -> set[str]:
    """The forms of treebanks, and their lower case."""
    from arbora.data import read_blocks

    forms: set[str] = set()
    for path in treebanks:
        for chunk in read_blocks(path):
            for form, _ in chunk.block.column_names(1):
                forms |= {form, form.lower()}
    return forms


def _restricted(clusters: WordClusters, forms: set[str]) -> WordClusters:
    from arbora.features import WordClusters

    rows = [row for row in clusters.rows if row[0] in forms or row[0].lower() in forms]
    if not rows:
        raise ArgumentError("none of the words with vectors occurs in the treebank.")
    return WordClusters(rows)
