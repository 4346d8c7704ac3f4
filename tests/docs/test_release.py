"""Facts of a release: one version everywhere, metadata for the index, every Python that CI tests.

And the steps that a tag starts: wheels for each Python, published without a token; a page whose links have addresses.
"""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import deadheat

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
WORKFLOWS = ROOT / ".github" / "workflows"
LINKS = re.findall(r"\]\(([^)]+)\)", README)
PYTHONS = re.findall(r":: (3\.\d+)(?=')", str(PROJECT["classifiers"]))


def test_there_is_one_version() -> None:
    version = deadheat.__version__
    assert PROJECT["version"] == version
    lines = {
        "CITATION.cff": f"\nversion: {version}\n",
        "docs/citing.md": f"version = {{{version}}},",
        "CHANGELOG.md": f"\n## {version} (",
    }
    assert [name for name, line in lines.items() if line not in (ROOT / name).read_text(encoding="utf-8")] == []


def test_a_wheel_carries_the_notices_of_what_is_linked_into_it() -> None:
    (notice, *_) = [path.read_text() for path in metadata.files("deadheat") or [] if path.name == "nanobind.txt"]
    assert "Wenzel Jakob" in notice
    assert "Thibaut Goetghebuer-Planchon" in notice


def test_a_version_begins_with_changed_results() -> None:
    versions = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    firsts = [re.findall(r"^### (.*)$", version, flags=re.MULTILINE)[:1] for version in versions]
    assert firsts == [["Changed results"]] * len(versions) != []


def workflow(name: str) -> str:
    if not WORKFLOWS.is_dir():
        pytest.skip("a source distribution has no workflows")
    return (WORKFLOWS / name).read_text(encoding="utf-8")


def jobs() -> dict[str, Any]:
    """Return the jobs of a release."""
    yaml = pytest.importorskip("yaml", reason="reading a workflow needs PyYAML (extra test)")
    return dict(yaml.safe_load(workflow("release.yml"))["jobs"])


def test_ci_tests_the_pythons_of_the_classifiers() -> None:
    text = workflow("tests.yml")
    (listed,) = re.findall(r"python: \[(.*)\]", text)
    assert re.findall(r'"([\d.]+)"', listed) == PYTHONS
    assert PYTHONS[0] == PROJECT["requires-python"].removeprefix(">=")
    assert f'python-version: "{PYTHONS[-1]}t"' in text
    assert {"ubuntu-latest", "macos-latest", "windows-latest"} <= set(re.findall(r"\w+-latest", text))


def test_a_tag_publishes_wheels_and_source_without_a_token() -> None:
    steps = jobs()
    publish = steps["publish"]
    assert set(publish["needs"]) == {"wheels", "source", "lowest"}
    assert publish["permissions"] == {"id-token": "write"}
    assert "'pypi'" in publish["environment"]
    assert publish["steps"][-1]["uses"].startswith("pypa/gh-action-pypi-publish@")
    assert re.findall(r"secrets\.|password", str(steps)) == []
    kept = {step["with"]["path"] for job in steps.values() for step in job["steps"] if "upload-artifact" in str(step)}
    assert kept == {"wheelhouse/*.whl", "dist/*.tar.gz"}
    assert {steps[name]["needs"] for name in ("wheels", "source")} == {"ready"}


def test_there_are_wheels_for_every_python_of_the_classifiers_and_for_one_without_a_lock() -> None:
    settings = SETTINGS["tool"]["cibuildwheel"]
    tags = [f"cp{python.replace('.', '')}" for python in (*PYTHONS, f"{PYTHONS[-1]}t")]
    assert settings["build"].split() == [f"{tag}-*" for tag in tags]
    for line in (settings, *settings["overrides"]):
        paths = [word for word in line["test-command"].split() if word.startswith("tests/")]
        assert "tests/test_python_threads.py" in paths
        assert all((ROOT / path).exists() for path in paths)


@pytest.mark.skipif(shutil.which("bash") is None, reason="a workflow's steps are for bash")
@pytest.mark.parametrize(
    ("name", "tag", "passes"), [("someone", "v1.2.3", True), ("someone", "v1.2.4", False), ("OWNER", "v1.2.3", False)]
)
def test_a_release_needs_addresses_and_the_version_of_its_tag(
    tmp_path: Path, name: str, tag: str, passes: bool
) -> None:
    (step,) = [step for step in jobs()["ready"]["steps"] if "run" in step]
    (tmp_path / "pyproject.toml").write_text(f'version = "1.2.3"\nSource = "https://git.test/{name}/deadheat"\n')
    environment = os.environ | {"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": tag}
    command = ["bash", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert (done.returncode == 0) == passes


def test_every_place_that_waits_for_the_owner_is_in_the_list_for_the_maintainer() -> None:
    """And nothing else: `git grep OWNER`, without the workflow, the hook and the tests that look for it."""
    listed = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("### What a maintainer fills in")[2]
    files = [ROOT / "pyproject.toml", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.*"),
             *(ROOT / "examples").rglob("Dockerfile"), ROOT / "README.md", *(ROOT / "src").rglob("*.py")]  # fmt: skip
    files = [path for path in files if path.suffix != ".pyc"]  # of examples that were imported
    waiting = {path.name for path in files if "OWNER" in path.read_text(encoding="utf-8")}
    assert waiting == {"pyproject.toml", "audit.md", "ci.md", "Dockerfile", "competition.yaml"}
    assert [name for name in waiting if name not in listed.partition("\n## ")[0]] == []


def test_the_page_of_the_index_has_addresses_for_all_that_the_readme_links_to(tmp_path: Path) -> None:
    pytest.importorskip("scikit_build_core", reason="metadata are made by scikit-build-core (extra test)")
    program = f"import deadheat_build as build; build.prepare_metadata_for_build_wheel({str(tmp_path)!r})"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "build_backend")}
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, check=True)
    (path,) = tmp_path.glob("*.dist-info/METADATA")
    metadata = email.message_from_string(path.read_text(encoding="utf-8"))
    assert metadata["Description-Content-Type"] == "text/markdown"
    page = metadata.get_payload()
    links = re.findall(r"\]\(([^)]+)\)", page)
    assert len(links) == len(LINKS) > 30
    assert [link for link in links if not link.startswith("https://")] == []
    assert "<BLANKLINE>" not in page
    urls, logo = PROJECT["urls"], f"/raw/v{PROJECT['version']}/docs/assets/logo.svg"
    site, source = urls["Documentation"], urls["Source"]
    assert {f"{site}how-to/vector-indexes/", site, f"{source}/issues", f"{source}{logo}"} <= {*links}
    assert {*urls} == {"Documentation", "Source", "Issues", "Changelog"}


def test_the_targets_of_the_readme_exist() -> None:
    here = [link.split("#")[0] for link in LINKS if not link.startswith(("https://", "../.."))]
    assert [link for link in here if not (ROOT / link).is_file()] == []


def test_the_readme_is_short_and_begins_with_what_it_is_and_for_whom() -> None:
    title, _, first, *rest = README.splitlines()
    assert len(rest) + 3 <= 130
    assert title == "# ![deadheat](docs/assets/logo.svg)"
    assert first.startswith("**Is the gain real, or did the sort, a tie or chance make it?** deadheat gives ")
    assert README.index("## Does it matter to me?") < README.index("## Install")
    assert f"Python-{PYTHONS[0]}_to_{PYTHONS[-1]}-" in README
