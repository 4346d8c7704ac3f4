"""Trust: in come submissions, evaluators and reports, out go findings and receipts."""
