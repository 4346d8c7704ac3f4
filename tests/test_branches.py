"""The list of branches that no test takes."""

from __future__ import annotations

from tests import branches


def test_lines_with_a_branch_that_is_never_taken_are_listed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(branches, "CORE", tmp_path)
    (tmp_path / "exact").mkdir()
    (tmp_path / "exact/sums.cpp").write_text(
        "if (a)\n    b();\nif (c)  // never taken: c is always true\n    d();\n}\n", encoding="utf-8"
    )
    name = "exact/sums.cpp"
    counts = {(name, 1): [5, 0], (name, 2): [5], (name, 3): [5, 0], (name, 4): [5], (name, 5): [5, 0]}
    assert branches.report(counts) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "exact/sums.cpp:1: 1 of 2: if (a)"
    assert "exact: 3 of 4 branches taken" in printed
    assert printed[-1] == "1 lines have a reason"
    counts[name, 1] = [5, 1]
    assert branches.report(counts) == 0
