"""Audits: in come submissions or evaluators, out go the findings of a careful referee, with figures and advice."""
