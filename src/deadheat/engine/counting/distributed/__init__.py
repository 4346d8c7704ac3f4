"""A counting pass on an executor: files for the workers, tasks with small arguments, answers that add up to a profile.

job: files that workers see ──> tasks ──> workers: counts of portions ──> sums ──> profile
"""
