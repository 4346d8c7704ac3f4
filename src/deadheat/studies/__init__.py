"""The studies behind `deadheat reproduce`: published tables and figures, computed anew and put beside what was printed.

In come the names of studies and folders; out go a folder a study, with PNG and CSV files, and one page that shows all.

    study       the contract of a study, and what it hands in
    registry    which studies there are, and where
    runner      loads and runs them
    page        what they leave
    data        data sets that several of them read

Everything else is a study: a module, or a package if it has parts, that exports one `STUDY`. A part,
like the whole, takes a `Setting` and finds an `Outcome`.
"""
