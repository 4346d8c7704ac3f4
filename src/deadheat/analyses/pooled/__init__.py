"""One pooled ranking: items with a score and a label, of which one threshold decides which are accepted.

scores, labels ──────────────────────────┬──> profile of one query ──> `measuring` ──> `result`
embeddings, pairs ──> `pairs`, ranks ────┘
"""
