"""What any program needs: files, threads, progress, optional packages, exact means. Nothing here knows retrieval."""
