"""What a careful referee would ask: in come submissions or evaluators, out go findings, with figures and what to do."""
