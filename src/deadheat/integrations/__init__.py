"""Integrations with other libraries: one module each, imported on use, installed by the extra of the same name."""
