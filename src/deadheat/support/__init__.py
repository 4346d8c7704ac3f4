"""What any program needs and nothing of retrieval: files, threads, progress, optional packages, exact means."""
