"""Reports: in come profiles and measures, out go means with their bounds, as numbers, tables and files.

evaluating ──> Report ──> Result, a measure each ──> Intervals
                 └─> tables: text, Markdown, LaTeX, HTML, JSON, data frames; export: each query's values
"""
