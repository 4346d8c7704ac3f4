"""General support: files, threads, progress, optional packages, exact means. Nothing here depends on retrieval."""
