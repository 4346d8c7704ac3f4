"""Measurements of speed and memory against the targets that the project has set itself; `python -m benchmarks`.

What is measured stands as data in `cases`; `running` measures one case and gives one row:

    cases ──> data ──> yardsticks, by turns with deadheat.evaluate ──> results ──> report (table), JSON, picture
                  └──> memory · growth · out_of_core · starting, which measure something other than one time

Nothing here is imported by the package.
"""
