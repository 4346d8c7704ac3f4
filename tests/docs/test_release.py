"""What a release says of itself: one version everywhere, metadata that an index takes, every Python that CI tries.

And what a tag starts: wheels for each Python, published without a token, on a page whose links have addresses.
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


def test_there_is_one_version() -> None:
    version = deadheat.__version__
    assert PROJECT["version"] == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version = {{{version}}}," in (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    assert f"\n## {version} (" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_a_wheel_carries_the_notices_of_what_is_linked_into_it() -> None:
    notices = [path for path in metadata.files("deadheat") or [] if path.name == "nanobind.txt"]
    assert "Wenzel Jakob" in notices[0].read_text()
    assert "Thibaut Goetghebuer-Planchon" in notices[0].read_text()


def test_a_version_begins_with_changed_results() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    firsts = [re.findall(r"^### (.*)$", version, flags=re.MULTILINE)[:1] for version in versions]
    assert firsts == [["Changed results"]] * len(versions) != []


def test_ci_tries_the_pythons_that_are_promised() -> None:
    require_workflows()
    promised = pythons()
    workflow = (WORKFLOWS / "tests.yml").read_text(encoding="utf-8")
    listed = re.search(r"python: \[(.*)\]", workflow)
    assert listed is not None
    assert re.findall(r'"([\d.]+)"', listed[1]) == promised
    assert promised[0] == PROJECT["requires-python"].removeprefix(">=")
    assert f'python-version: "{promised[-1]}t"' in workflow
    assert {"ubuntu-latest", "macos-latest", "windows-latest"} <= set(re.findall(r"\w+-latest", workflow))


def require_workflows() -> None:
    if not WORKFLOWS.is_dir():
        pytest.skip("a source distribution has no workflows")


def pythons() -> list[str]:
    """What the classifiers promise."""
    return re.findall(r":: (3\.\d+)(?=')", str(PROJECT["classifiers"]))


def workflow() -> dict[str, Any]:
    require_workflows()
    yaml = pytest.importorskip("yaml", reason="reading a workflow needs PyYAML, which mkdocs brings")
    jobs = yaml.safe_load((WORKFLOWS / "release.yml").read_text(encoding="utf-8"))["jobs"]
    assert isinstance(jobs, dict)
    return jobs


def test_a_tag_publishes_wheels_and_source_without_a_token() -> None:
    jobs = workflow()
    publish = jobs["publish"]
    assert set(publish["needs"]) == {"wheels", "source", "lowest"}
    assert publish["permissions"] == {"id-token": "write"}
    assert "'pypi'" in publish["environment"]
    assert publish["steps"][-1]["uses"].startswith("pypa/gh-action-pypi-publish@")
    assert re.findall(r"secrets\.|password", str(jobs)) == []
    kept = {step["with"]["path"] for job in jobs.values() for step in job["steps"] if "upload-artifact" in str(step)}
    assert kept == {"wheelhouse/*.whl", "dist/*.tar.gz"}
    assert {jobs[name]["needs"] for name in ("wheels", "source")} == {"ready"}


def test_there_are_wheels_for_every_python_that_is_promised_and_for_one_without_a_lock() -> None:
    built = SETTINGS["tool"]["cibuildwheel"]["build"].split()
    wanted = [f"cp{python.replace('.', '')}" for python in pythons()]
    assert built == [f"{python}-*" for python in (*wanted, f"{wanted[-1]}t")]
    for line in (SETTINGS["tool"]["cibuildwheel"], *SETTINGS["tool"]["cibuildwheel"]["overrides"]):
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
    (step,) = [step for step in workflow()["ready"]["steps"] if "run" in step]
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
    found = re.findall(r"\]\(([^)]+)\)", page)
    assert len(found) == len(LINKS) > 30
    assert [link for link in found if not link.startswith("https://")] == []
    assert "<BLANKLINE>" not in page
    urls, version = PROJECT["urls"], PROJECT["version"]
    assert f"]({urls['Documentation']}how-to/vector-indexes/)" in page
    assert f"]({urls['Documentation']})" in page
    assert f"]({urls['Source']}/issues)" in page
    assert f"![deadheat]({urls['Source']}/raw/v{version}/docs/assets/logo.svg)" in page
    assert {*urls} == {"Documentation", "Source", "Issues", "Changelog"}


def test_what_the_readme_links_to_is_there() -> None:
    here = [link.split("#")[0] for link in LINKS if not link.startswith(("https://", "../.."))]
    assert [link for link in here if not (ROOT / link).is_file()] == []


def test_the_readme_is_short_and_begins_with_what_it_is_and_for_whom() -> None:
    title, _, first, *rest = README.splitlines()
    assert len(rest) + 3 <= 130
    assert title == "# ![deadheat](docs/assets/logo.svg)"
    assert first.startswith("deadheat evaluates embeddings, retrievers and rerankers, for ")
    assert README.index("## Does it matter to me?") < README.index("## Install")
    assert f"Python-{pythons()[0]}_to_{pythons()[-1]}-" in README
