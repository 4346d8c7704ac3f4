"""Trust: in come submissions, evaluators and reports, out go findings, receipts and the leaderboard of a challenge."""
