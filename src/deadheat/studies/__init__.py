"""The studies behind `deadheat reproduce`: published tables and figures, recomputed and compared.

Input: names of studies, and folders. Output: a folder for each study with PNG and CSV files, and one page that shows
them.

    study       what a study is given and what it finds
    runner      which studies there are; runs them and writes what they find
    published   values printed in published work, and the data sets that several of them read

Everything else is a study, or a part of the study that its name begins with.
"""
