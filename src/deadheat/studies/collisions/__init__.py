"""The study of collisions: in comes a setting, out come the published pictures beside exact ones."""

from deadheat.studies.collisions.study import STUDY

__all__ = ["STUDY"]
