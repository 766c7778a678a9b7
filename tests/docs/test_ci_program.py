"""The page's case of a program that the repository builds: it is executed as it stands there."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.test_docs import block_of

pytestmark = [pytest.mark.slow, pytest.mark.requires("git"), pytest.mark.requires("cc")]
SOURCE = """
#include <stdio.h>
int main(int count, char **arguments) {
    FILE *file = fopen(arguments[1], "r");
    char word[80];
    int words = 0;
    while (fscanf(file, "%79s", word) == 1) words++;
    printf("%d\\n", words);
    return count - 2;
}
"""
GIT = ("git", "-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false")


def shell(folder: Path, script: str) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    words = ["bash", "-eo", "pipefail", "-c", script]
    given = {**os.environ, "PATH": path, "GITHUB_ACTIONS": ""}
    ended = subprocess.run(
        words, cwd=folder, env=given, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    case = work / "benchmarks" / "wordcount"
    (case / "data" / "shared").mkdir(parents=True)
    (case / "data" / "shared" / "words.txt").write_text("one two\nthree\n")
    (case / "metadata.json").write_text(block_of("ci.md", "program-case"))
    (work / "src").mkdir()
    (work / "src" / "wordcount.c").write_text(SOURCE)
    (work / ".gitignore").write_text("results/\nbuild/\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*GIT, *arguments], cwd=work, check=True)
    subprocess.run([*GIT, "worktree", "add", "-q", "--detach", "../base"], cwd=work, check=True)
    (work / "src" / "wordcount.c").write_text(SOURCE.replace("[80]", "[90]"))
    return work


def test_a_commit_of_the_program_is_a_change_of_what_is_measured(checkout: Path) -> None:
    shell(checkout, block_of("ci.md", "program-build"))
    run = "benchyard run benchmarks ../base/benchmarks --direct --cooldown 0 --publish none"
    shell(checkout, f"{run} --runs 2 --order round-robin")
    compare = "benchyard compare ../base/benchmarks benchmarks --suspect include --json"
    document: Any = json.loads(shell(checkout, f"{compare} 2>/dev/null"))
    found = {each["what"]: each["weight"] for each in document["cases"][0]["mismatches"]}
    assert found["files src"] == found["build build/wordcount"] == "change"
    assert "files of the case" not in found
    assert "other work" not in found.values()
    again = shell(checkout, f"{run} --runs 2")
    assert again.count("nothing to do") == 2
