"""The command: in come options and files, out go tables, files and an exit status."""
