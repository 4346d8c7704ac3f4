"""The studies that deadheat rests on, `python -m reproduce`: published tables and figures, recomputed and compared.

Input: names of studies, and folders. Output: a folder for each study with PNG and CSV files, and one page that shows
them. `study` has what they share and runs them; everything else is a study, or a part of the one that its name begins
with.
"""
