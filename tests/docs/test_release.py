"""What a release says of itself: one version everywhere, metadata that an index takes, every Python that CI tries."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import deadheat

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_there_is_one_version() -> None:
    version = deadheat.__version__
    assert PROJECT["version"] == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version = {{{version}}}," in (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    assert f"\n## {version} (" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_a_version_begins_with_changed_results() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert versions
    for version in versions:
        assert re.findall(r"^### (.*)$", version, flags=re.MULTILINE)[:1] == ["Changed results"]


def test_ci_tries_the_pythons_that_are_promised() -> None:
    promised = [found[1] for found in re.finditer(r":: (3\.\d+)(?=')", str(PROJECT["classifiers"]))]
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    listed = re.search(r"python: \[(.*)\]", workflow)
    assert listed is not None
    assert re.findall(r'"([\d.]+)"', listed[1]) == promised
    assert promised[0] == PROJECT["requires-python"].removeprefix(">=")
    assert {"ubuntu-latest", "macos-latest", "windows-latest"} <= set(re.findall(r"\w+-latest", workflow))
