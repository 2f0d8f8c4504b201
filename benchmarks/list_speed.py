"""`Parser.parse` of a list of sentences, compared with the work of `arbora parse` on their file.

python benchmarks/list_speed.py FILE [--model NAME] [--rounds N]

The command's work is reading, parsing and writing on one thread, without the start of a process.
The list is what `read_conllu` gives, in its order and shuffled, and with sentences that were made
in Python; heads and labels of every answer are read. Processor time, in turns; a ratio is the
median over the rounds of the command's time by the list's, so 1 is the same speed.
"""

from __future__ import annotations

import argparse
import io
import random
import time
from collections.abc import Iterable
from pathlib import Path

from timing import interleaved, ratio

from arbora import Sentence, load, read_conllu
from arbora.data import format_named
from arbora.options import ParseOptions


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--model", default="en")
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    parser = load(given.model, 1)
    options = ParseOptions()
    read = list(read_conllu(given.file))
    shuffled = random.Random(0).sample(read, len(read))
    made = [Sentence.from_bytes(bytes(sentence)) for sentence in read]

    def command() -> int:
        stage, written, seen = parser.stage(options), io.BytesIO(), parser.unfamiliar()
        for chunk in parser.chunks(given.file, options):
            parsed = stage(seen.watched(chunk.block))
            written.write(format_named(chunk.format).writer.write(parsed))
        return written.tell()

    def parse(sentences: Iterable[Sentence]) -> int:
        found = parser.parse(sentences, probabilities=False)
        return sum(len(sentence.labels) + len(sentence.heads) for sentence in found)

    times = interleaved(
        {
            "command": command,
            "list": lambda: parse(read),
            "shuffled": lambda: parse(shuffled),
            "made": lambda: parse(made),
        },
        rounds=given.rounds,
        clock=time.process_time,
    )
    words = sum(map(len, read))
    print(f"{words} words; words per processor second, and speed relative to the command")
    for name, seconds in times.items():
        print(f"{name:10}{words / min(seconds):10.0f}{ratio(times, 'command', name):8.2f}")


if __name__ == "__main__":
    main()
