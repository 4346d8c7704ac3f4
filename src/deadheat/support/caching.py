"""Properties that are computed once and kept.

`functools.cached_property` of Python 3.11 computes under one lock for all instances: a callback that waits blocks every
other thread, an executor that another task needs deadlocks, and a process forked meanwhile waits for ever.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as cached_property  # noqa: TID251 - type checkers know this one
else:

    class cached_property(functools.cached_property):  # noqa: TID251
        """A property that is computed without a lock; of threads that compute it at once, the first result is kept.

        Examples
        --------
        >>> class Circle:
        ...     @cached_property
        ...     def area(self):
        ...         return [3.14]
        >>> circle = Circle()
        >>> circle.area is circle.area
        True
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            return vars(instance).setdefault(self.attrname, self.func(instance))
