"""sentence-transformers: its InformationRetrievalEvaluator, with bounds that no order of the documents can move.

Everything but the ranking is theirs: the constructor, the encoding, the keys, the model card. What each query's value
is made of is in `reports` and `results` after a call.
"""

from deadheat.integrations.sentence_transformers.evaluator import TieAwareInformationRetrievalEvaluator

__all__ = ["TieAwareInformationRetrievalEvaluator"]
