"""A BM25 run on real text, as a TREC file, evaluated with all its ties: `python examples/trec_run.py`.

The documents are the paragraphs of Python's language reference, which comes with Python (`help("FORMATTING")` shows one
of its topics). A query is the title of a topic. What is relevant are the paragraphs of that topic, with grade 2 for its
first one. The retriever is BM25 with scores of one decimal, as a search engine may print them.
"""

from __future__ import annotations

import gzip
import math
import re
import tempfile
from collections import Counter, defaultdict
from importlib.util import find_spec
from pathlib import Path
from pydoc_data.topics import topics

import deadheat as dh

MEASURES = "AP AP(rel=2) nDCG@10 RR P@5"


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def collection() -> tuple[dict[str, str], dict[str, str], dict[str, dict[str, int]]]:
    """Documents and queries by id, and the qrels."""
    documents, queries, qrels = {}, {}, {}
    for topic, text in topics.items():
        title, *paragraphs = (part for part in text.split("\n\n") if words(part))
        if paragraphs:
            names = [f"{topic}-{number}" for number in range(len(paragraphs))]
            documents |= dict(zip(names, paragraphs, strict=True))
            queries[topic] = title.splitlines()[0]
            qrels[topic] = {name: 2 if name == names[0] else 1 for name in names}
    return documents, queries, qrels


def bm25(
    documents: dict[str, str], queries: dict[str, str], k: float = 0.9, b: float = 0.4
) -> dict[str, dict[str, float]]:
    """The thousand best documents of each query that share a word with it, and their scores."""
    counts = {name: Counter(words(text)) for name, text in documents.items()}
    postings: dict[str, list[str]] = defaultdict(list)
    for name, part in counts.items():
        for word in part:
            postings[word].append(name)
    mean = sum(map(Counter.total, counts.values())) / len(counts)
    run = {}
    for query, text in queries.items():
        scores: dict[str, float] = defaultdict(float)
        for word in words(text):
            weight = math.log1p((len(counts) - len(postings[word]) + 0.5) / (len(postings[word]) + 0.5))
            for name in postings[word]:
                times = counts[name][word]
                scores[name] += weight * times / (times + k * (1 - b + b * counts[name].total() / mean))
        best = sorted(scores, key=scores.__getitem__, reverse=True)[:1000]
        run[query] = {name: round(scores[name], 1) for name in best}
    return run


def main() -> None:
    documents, queries, qrels = collection()
    run = bm25(documents, queries)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bm25.run.gz")
        with gzip.open(path, "wt", encoding="utf-8") as file:
            file.write("# BM25, one decimal\n")
            for query, scores in run.items():
                for rank, (name, score) in enumerate(scores.items(), 1):
                    file.write(f"{query} Q0 {name} {rank} {score} bm25\n")
        report = dh.evaluate(dh.from_run(path, qrels), MEASURES)
    print(f"{len(documents)} paragraphs, {len(queries)} titles\n")
    print(report)

    if find_spec("ir_measures") is None:
        print("\nWith ir_measures installed, this compares its values too: pip install 'deadheat[ir-measures]'")
        return
    import ir_measures  # noqa: PLC0415

    from deadheat.integrations.ir_measures import lower, provider, upper  # noqa: PLC0415

    # Ties are broken there by document id, so that other names for the same paragraphs give other values.
    reversed_ids = {name: f"{i:05d}" for i, name in enumerate(sorted(documents, reverse=True))}
    renamed = [{q: {reversed_ids[d]: v for d, v in row.items()} for q, row in table.items()} for table in (qrels, run)]
    print(f"\n{'':<12}{'ir_measures':>12}{'renamed':>12}{'lower':>12}{'expected':>12}{'upper':>12}")
    inside = True
    for measure in map(ir_measures.parse_measure, MEASURES.split()):
        theirs = [ir_measures.calc_aggregate([measure], *tables)[measure] for tables in ((qrels, run), renamed)]
        values = provider.calc_aggregate([lower(measure), measure, upper(measure)], qrels, run)
        least, expected, most = values[lower(measure)], values[measure], values[upper(measure)]
        print(f"{measure!s:<12}" + "".join(f"{value:12.4f}" for value in (*theirs, least, expected, most)))
        inside &= all(least - 1e-9 <= value <= most + 1e-9 for value in theirs)
    print(f"\nTheir values are between the bounds: {inside}")


if __name__ == "__main__":
    main()
