"""A counting pass on an executor: files for the workers, tasks of small arguments, answers that add up to a profile.

job: files that workers see ──> tasks, so many in flight ──> workers: counts of portions ──> sums ──> profile
"""
