"""The command `deadheat`: it reads options and files, and gives tables, files and an exit status."""
