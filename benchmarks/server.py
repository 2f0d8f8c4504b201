"""Load on a server on this machine: throughput, full queues, slow clients, memory, fuzzing.

python benchmarks/server.py                      # 64 connections for 30 s, beside the library alone
python benchmarks/server.py --what correct       # one correction of 40 words at a time
python benchmarks/server.py --what crowd slow    # 1,000 connections; clients of one byte a second
python benchmarks/server.py --what memory --requests 100000
python benchmarks/server.py --what schema --requests 10000

The server is a process of its own, as `arbora serve` starts it, and parses on one thread. The
clients are sockets in this process. On one core both share it, so processor times are printed, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

import arbora
from arbora.data import read_conllu, treebank_text

ROOT = Path(__file__).parents[1]
WHAT = ("load", "correct", "crowd", "slow", "memory", "schema")
LONG = (
    "The old man who lived near the harbour and who had often told the children long stories about "
    "the sea walked slowly along the wall with his dog while the gulls slept on the roofs of the "
    "houses there."
)  # 40 words


@dataclass
class Tally:
    """Answers by status, the time of each, and how many words the good ones had."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    words: int = 0

    def percentile(self, share: float) -> float:
        """A percentile of the times of answers, in milliseconds."""
        ordered = sorted(self.seconds) or [float("nan")]
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000


@dataclass(frozen=True)
class Server:
    """A running server."""

    port: int
    process: int

    def processor_seconds(self) -> float:
        """The processor time that it has used."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Its memory."""
        pages = int(Path(f"/proc/{self.process}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def server(*options: str) -> Iterator[Server]:
    """A server on a free port."""
    command = [sys.executable, "-c", "from arbora.cli import main; main()", "serve", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--threads", "1", "--log", "off", *options], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        yield Server(port, process.pid)
    finally:
        process.terminate()
        process.wait()


def texts(sentences: int) -> list[tuple[str, int]]:
    """Texts of some sentences each, with their numbers of words."""
    every = list(read_conllu(ROOT / "examples" / "treebank" / "train.conllu"))
    groups = [every[i : i + sentences] for i in range(0, len(every), sentences)]
    return [(treebank_text(group), sum(map(len, group))) for group in groups]


def request(text: str) -> bytes:
    """A call of /process."""
    body = f"tokenizer=&tagger=&parser=&data={quote(text)}".encode()
    head = (
        "POST /process HTTP/1.1\r\nHost: localhost\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def answer(reader: asyncio.StreamReader) -> tuple[str, bool]:
    """The status of an answer, which is read whole, and whether the connection stays."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    status = head.split(" ", 2)[1]
    length = int(head.partition("content-length:")[2].partition("\r\n")[0])
    await reader.readexactly(length)
    return status, "connection: close" not in head


async def connection(
    port: int, requests: list[tuple[bytes, int]], first: int, until: float, tally: Tally
) -> None:
    """Sends one request after the other over one connection."""
    place, streams = first, None
    while time.monotonic() < until:
        data, words = requests[place % len(requests)]
        place += 1
        began = time.monotonic()
        try:
            if streams is None:
                streams = await asyncio.open_connection("127.0.0.1", port)
            streams[1].write(data)
            status, stays = await answer(streams[0])
        except (OSError, asyncio.IncompleteReadError):
            status, stays = "closed", False
        tally.statuses[status] += 1
        tally.seconds.append(time.monotonic() - began)
        tally.words += words if status == "200" else 0
        if not stays and streams is not None:
            streams[1].close()
            streams = None
        if status == "503":
            await asyncio.sleep(1.0)  # as Retry-After says
    if streams is not None:
        streams[1].close()


async def load(port: int, connections: int, seconds: float, sentences: int = 20) -> Tally:
    """Many connections for some seconds."""
    made = [(request(text), words) for text, words in texts(sentences)]
    tally, until = Tally(), time.monotonic() + seconds
    jobs = [connection(port, made, i, until, tally) for i in range(connections)]
    await asyncio.gather(*jobs)
    return tally


def library(seconds: float, sentences: int = 20) -> tuple[float, float]:
    """Words per second of the library alone, and per second of processor time."""
    nlp = arbora.load(threads=1)
    given = texts(sentences)
    words, began, used = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - began < seconds:
        documents = nlp.pipe((text for text, _ in given), probabilities=False)
        for document, (_, count) in zip(documents, given, strict=True):
            str(document)
            words += count
    return words / (time.perf_counter() - began), words / (time.process_time() - used)


def show(name: str, tally: Tally, seconds: float) -> None:
    total = sum(tally.statuses.values())
    print(
        f"{name}: {total:,} requests in {seconds:.0f} s ({total / seconds:,.0f}/s), "
        f"{dict(sorted(tally.statuses.items()))}; p50 {tally.percentile(0.5):.0f} ms, "
        f"p99 {tally.percentile(0.99):.0f} ms; {tally.words / seconds:,.0f} words/s"
    )


def measure_load(seconds: float) -> None:
    """64 connections, beside the library."""
    with server() as one:
        asyncio.run(load(one.port, 64, 2.0))
        before, began = one.processor_seconds(), time.monotonic()
        tally = asyncio.run(load(one.port, 64, seconds))
        took, used = time.monotonic() - began, one.processor_seconds() - before
        show("64 connections", tally, took)
        wall, own = library(min(seconds, 10.0))
        print(
            f"per second of processor time: server {tally.words / used:,.0f} words, library "
            f"{own:,.0f} words ({tally.words / used / own:.0%}); library alone {wall:,.0f} words/s"
        )


def measure_correct(seconds: float) -> None:
    """A correction of a sentence of 40 words, as the page asks for it, one after the other."""
    del seconds
    nlp = arbora.load(threads=1)
    (sentence,) = nlp(LONG)
    heads = sentence.runner_ups.tolist()
    for model in ("en", "en-accurate"):
        with server(model) as one:
            took, inside, before = [], [], one.processor_seconds()
            for i in range(200):
                word = i % len(sentence) + 1
                body = {"conllu": sentence.to_conllu(), "required": [[heads[word - 1], word]]}
                asked = Request(
                    f"http://127.0.0.1:{one.port}/api/constrain", json.dumps(body).encode(),
                    {"Content-Type": "application/json"},
                )  # fmt: skip
                began = time.perf_counter()
                with urlopen(asked) as found:
                    inside.append(json.load(found)["milliseconds"])
                took.append((time.perf_counter() - began) * 1000)
            used = (one.processor_seconds() - before) / 200 * 1000
        took.sort()
        inside.sort()
        print(
            f"{model}: a correction of {len(sentence)} words: p50 {took[100]:.1f} ms, "
            f"p99 {took[197]:.1f} ms over HTTP; p50 {inside[100]:.1f} ms, p99 {inside[197]:.1f} ms "
            f"in the worker; {used:.1f} ms of the server's processor time"
        )


def measure_crowd(seconds: float) -> None:
    """1,000 connections at once, and the time after it."""
    with server() as one:
        began = time.monotonic()
        show(
            "1,000 connections",
            asyncio.run(load(one.port, 1000, seconds)),
            time.monotonic() - began,
        )
        began = time.monotonic()
        show(
            "after it, 4 connections", asyncio.run(load(one.port, 4, 3.0)), time.monotonic() - began
        )


def measure_slow(seconds: float) -> None:
    """200 clients that send one byte a second, beside four others."""

    async def slow(port: int, until: float) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            for byte in request("The gulls sleep on the wall. " * 100):
                if time.monotonic() > until:
                    break
                writer.write(bytes([byte]))
                await asyncio.sleep(1.0)
            return "open"
        except OSError:
            return "closed"
        finally:
            writer.close()
            del reader

    async def both(port: int) -> Tally:
        until = time.monotonic() + seconds
        others = [asyncio.create_task(slow(port, until)) for _ in range(200)]
        await asyncio.sleep(1.0)
        tally = await load(port, 4, seconds)
        await asyncio.gather(*others)
        return tally

    with server() as one:
        began = time.monotonic()
        show(
            "4 connections alone", asyncio.run(load(one.port, 4, seconds)), time.monotonic() - began
        )
        began = time.monotonic()
        show("beside 200 slow ones", asyncio.run(both(one.port)), time.monotonic() - began)


def measure_memory(requests: int) -> None:
    """The memory of the server over many small requests."""

    async def some(port: int, count: int) -> None:
        made = [request(text) for text, _ in texts(1)]

        async def ask(first: int) -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for i in range(first, count, 16):
                writer.write(made[i % len(made)])
                await answer(reader)
            writer.close()

        await asyncio.gather(*(ask(i) for i in range(16)))

    with server() as one:
        for part in range(11):
            asyncio.run(some(one.port, max(1, requests // 100) if part == 0 else requests // 10))
            print(f"memory after {part * requests // 10:>7,} requests: {one.megabytes():.1f} MB")


def measure_schema(requests: int) -> None:
    """Requests made up from the OpenAPI document; none may be answered with 500."""
    statuses: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        file = shutil.copy(ROOT / "examples" / "treebank" / "dev.conllu", folder)
        _ask_made_up(requests, file, statuses)
    print(f"{sum(statuses.values()):,} made-up requests: {dict(sorted(statuses.items()))}")


def _ask_made_up(requests: int, file: str, statuses: Counter[int]) -> None:
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings

    with server("--project", file) as one:
        base = f"http://127.0.0.1:{one.port}"
        schema = schemathesis.openapi.from_url(f"{base}/openapi.json")
        operations = [found.ok() for found in schema.get_all_operations()]
        most = requests // len(operations) + 1
        while sum(statuses.values()) < requests:  # calls without parameters take only a few
            for operation in operations:

                @settings(
                    max_examples=most, deadline=None, database=None, phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck),
                )  # fmt: skip
                @given(case=operation.as_strategy())
                def ask(case: schemathesis.Case) -> None:
                    found = case.call(base_url=base)
                    statuses[found.status_code] += 1
                    assert found.status_code < 500 or found.status_code in (503, 504), found.text

                ask()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--what", nargs="+", choices=WHAT, default=["load"])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--requests", type=int, default=10_000)
    given = parser.parse_args()
    for name in given.what:
        measure = globals()[f"measure_{name}"]
        measure(given.requests if name in ("memory", "schema") else given.seconds)


if __name__ == "__main__":
    main()
