"""Packs that anybody may have made: what is right is unpacked, all else is refused."""

import hashlib
import io
import json
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchyard.core import zstandard
from benchyard.core.errors import InputError
from benchyard.publish.packs.archives import write_archive
from benchyard.publish.packs.manifest import (
    MANIFEST,
    Manifest,
    PackedCase,
    PackedFile,
    is_safe,
    read_manifest,
)
from benchyard.publish.packs.unpacking import unpack, unpacked_to_check
from tests.conftest import tree

META = "cases/a/metadata.json"
FILES = {
    META: b"{}",
    "cases/a/data/shared/in.txt": b"input" * 1000,
    "cases/a/data/shared/deep/same.txt": b"input" * 1000,
    "cases/a/data/shared/tool.sh": b"#!/bin/sh\n",
    "results/a/run_1/run.json": b"[1]",
    "README.txt": b"read me",
}
LINK = "cases/a/data/shared/way"
forms = pytest.mark.parametrize("ending", [".zip", ".tar.zst"])


def manifest_of(contents: Mapping[str, bytes], **changed: Any) -> Manifest:
    files = {
        name: PackedFile(hashlib.sha256(c).hexdigest(), len(c), executable=name.endswith(".sh"))
        for name, c in contents.items()
    }
    fields: dict[str, Any] = {
        "benchyard": "0.1.0",
        "python": "CPython 3.11",
        "cases": (PackedCase("a", "cases/a", "", "results/a", (1,)),),
        "classes": (),
        "packages": {},
        "images": {},
        "files": files,
        "links": {LINK: "deep"},
        **changed,
    }
    return Manifest(**fields)


def packed(path: Path, **changed: Any) -> Path:
    write_archive(path, manifest_of(FILES, **changed), FILES)
    return path


# -- what is right


@forms
def test_what_was_packed_is_unpacked(tmp_path: Path, ending: str) -> None:
    path, other = packed(tmp_path / f"p{ending}"), packed(tmp_path / f"q{ending}")
    assert path.read_bytes() == other.read_bytes()
    manifest = unpack(path, tmp_path / "out")
    found = tree(tmp_path / "out")
    assert {name: found[name] for name in FILES} == FILES
    assert found[LINK] == "deep"
    assert os.access(tmp_path / "out/cases/a/data/shared/tool.sh", os.X_OK)
    assert not os.access(tmp_path / "out" / META, os.X_OK)
    assert manifest == read_manifest(manifest.to_bytes())
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
    if ending == ".zip":
        names = zipfile.ZipFile(path).namelist()
        assert sorted(names) == sorted({MANIFEST, *FILES} - {"cases/a/data/shared/in.txt"})


@pytest.mark.parametrize("again", ["archive", "folder"])
def test_an_unpacked_pack_is_checked_again_and_completed(tmp_path: Path, again: str) -> None:
    path, out = packed(tmp_path / "p.zip"), tmp_path / "out"
    shutil.unpack_archive(path, out)
    unpack(path if again == "archive" else out, out)
    assert {name: tree(out)[name] for name in FILES} == FILES
    (out / META).write_text("[]")
    with pytest.raises(InputError, match="is not what"):
        unpack(path if again == "archive" else out, out)


def test_what_lies_in_the_folder_stays_as_it_is(tmp_path: Path) -> None:
    path, out = packed(tmp_path / "p.zip"), tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="out holds something else; name another folder"):
        unpack(path, out)
    assert tree(out) == {"mine.txt": b"mine"}
    (out / "mine.txt").unlink()
    unpack(path, out)
    other = tmp_path / "other.zip"
    write_archive(other, manifest_of(FILES, benchyard="9"), FILES)
    with pytest.raises(InputError, match="holds another pack"):
        unpack(other, out)
    (out / "cases" / "a" / "data" / "shared" / "new.txt").write_text("new")
    with pytest.raises(InputError, match=r"new\.txt was not packed"):
        unpack(path, out)


def test_a_file_that_changes_while_it_is_packed_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{META} changed while it was packed"):
        write_archive(tmp_path / "p.zip", manifest_of(FILES), {**FILES, META: b"[]"})
    assert list(tmp_path.iterdir()) == []


# -- what is not


def zipped(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)


def tarred(path: Path, *members: tuple[str | tarfile.TarInfo, bytes]) -> None:
    with (
        zstandard.ZstdFile(path, "wb") as stream,
        tarfile.open(fileobj=stream, mode="w|") as archive,
    ):
        for name, content in members:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


Write = Callable[..., None]
writers = pytest.mark.parametrize("write", [zipped, tarred])


def refused(path: Path, words: str) -> None:
    """Nothing is left of a pack that is refused, here or outside."""
    before = tree(path.parent)
    for look in (partial(unpack, path, path.parent / "out"), partial(_check, path)):
        with pytest.raises(InputError, match=words) as told:
            look()
        assert str(told.value).startswith(str(path))
    assert tree(path.parent) == before


def _check(path: Path) -> None:
    with unpacked_to_check(path):
        pass


def members(**changed: Any) -> list[tuple[str, bytes]]:
    manifest = manifest_of(FILES, **changed)
    stored = sorted(name for name in manifest.stored.values() if name in FILES)
    return [(MANIFEST, manifest.to_bytes()), *((name, FILES[name]) for name in stored)]


@writers
@pytest.mark.parametrize(
    "name",
    ["../out.txt", "/etc/x", "cases/../../x", "cases/a/extra.txt", "x", "cases\\..\\x", META],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_no_manifest_names(tmp_path: Path, write: Write, name: str) -> None:
    write(tmp_path / "p", *members(), (name, b"evil"))
    refused(tmp_path / "p", "is not in its manifest, or twice in it")


@writers
@pytest.mark.parametrize("content", [b"{ }", bytes(200_000_000)], ids=["other", "far too large"])
def test_a_member_of_another_content(tmp_path: Path, write: Write, content: bytes) -> None:
    first, *rest = members()
    write(tmp_path / "p", first, *((n, content if n == META else c) for n, c in rest))
    assert (tmp_path / "p").stat().st_size < 1_000_000
    refused(tmp_path / "p", "is not what its manifest says")


@writers
def test_a_member_that_is_missing(tmp_path: Path, write: Write) -> None:
    write(tmp_path / "p", *members()[:-1])
    refused(tmp_path / "p", "missing in it")


def test_one_that_says_it_needs_more_than_there_is(tmp_path: Path) -> None:
    files = {**manifest_of(FILES).files, "cases/a/data/shared/x": PackedFile("0" * 64, 10**17)}
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / MANIFEST).write_bytes(members(files=files)[0][1])
    refused(tmp_path / "p", "it says that it needs")


def copies(count: int) -> dict[str, bytes]:
    return {**FILES, **{f"cases/a/data/shared/{n:03}": bytes(1_000_000) for n in range(count)}}


@forms
def test_a_small_archive_that_becomes_a_huge_folder(tmp_path: Path, ending: str) -> None:
    contents = copies(200)
    pack = tmp_path / f"pack{ending}"
    write_archive(pack, manifest_of(contents), contents)
    refused(pack, "bytes of it would become 20[0-9] MB, more than 1,000 times as many")


def test_what_is_there_several_times_is_not_copied_to_check_it(tmp_path: Path) -> None:
    contents = copies(50) | {"cases/a/data/shared/z.sh": bytes(1_000_000)}
    pack = tmp_path / "pack.zip"
    write_archive(pack, manifest_of(contents), contents)
    with unpacked_to_check(pack) as (folder, _):
        shared = folder / "cases/a/data/shared"
        assert {(shared / f"{n:03}").stat().st_ino for n in range(50)} == {
            (shared / "000").stat().st_ino
        }
        assert os.access(shared / "z.sh", os.X_OK)
        assert not os.access(shared / "000", os.X_OK)


def test_a_small_archive_with_a_manifest_of_millions_of_values(tmp_path: Path) -> None:
    zipped(tmp_path / "a.zip", (MANIFEST, b"[" + b"[]," * 4_000_000 + b"[]]"))
    refused(tmp_path / "a.zip", "its pack.json is larger than 8 MiB")


def test_a_named_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.zip")
    with pytest.raises(InputError, match=r"a\.zip is a named pipe, not a file"):
        unpack(tmp_path / "a.zip", tmp_path / "out")


@pytest.mark.parametrize(
    ("kind", "size", "words"),
    [
        *((kind, 0, "is no plain file") for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE)),
        *((kind, 0, "is no plain file") for kind in (tarfile.CHRTYPE, tarfile.FIFOTYPE)),
        # A header that never ends.
        (tarfile.GNUTYPE_LONGNAME, 100_000_000, "more than its manifest says"),
    ],
)
def test_a_member_that_is_no_plain_file(tmp_path: Path, kind: bytes, size: int, words: str) -> None:
    info = tarfile.TarInfo(META)
    info.type, info.linkname = kind, "/etc/passwd"
    tarred(tmp_path / "p", members()[0], (info, bytes(size)))
    refused(tmp_path / "p", words)


def test_a_link_in_a_zip_is_the_text_that_it_is(tmp_path: Path) -> None:
    info = zipfile.ZipInfo(META)
    info.create_system, info.external_attr = 3, 0o120777 << 16
    zipped(tmp_path / "p", members()[0], (info, b"/etc/passwd"))
    refused(tmp_path / "p", "is not what its manifest says")


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x05\x06" + bytes(18), b"no archive at all", b"\x28\xb5\x2f\xfd\x00", bytes(1000)],
)
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p").write_bytes(content)
    refused(tmp_path / "p", "is no pack, or damaged|it holds no pack.json|does not begin with")


@forms
def test_one_that_is_cut_off_or_damaged_anywhere(tmp_path: Path, ending: str) -> None:
    whole = packed(tmp_path / f"whole{ending}").read_bytes()
    path = tmp_path / "p"
    for at in range(0, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:at])
        with pytest.raises(InputError):
            _check(path)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            _check(path)
        except InputError:
            continue  # a bit that no reader looks at, such as a date, does no harm


@pytest.mark.parametrize("name", ["cases", "cases/a/data/shared/deep"])
def test_nothing_is_read_or_written_through_a_link_in_a_folder(tmp_path: Path, name: str) -> None:
    out, aside = tmp_path / "pack", tmp_path / "aside"
    unpack(packed(tmp_path / "p.zip"), out)
    (out / name).rename(aside)
    (out / name).symlink_to(aside)
    before = tree(aside)
    with pytest.raises(InputError, match="is not what was packed"):
        unpack(out, out)
    with pytest.raises(InputError, match="is a link"):
        _check(out)
    assert tree(aside) == before


# -- manifests


def test_a_title_may_be_half_a_character() -> None:
    manifest = manifest_of(FILES, cases=(PackedCase("\ud800 ü", "cases/a", "", "results/a", (1,)),))
    assert read_manifest(manifest.to_bytes()) == manifest


def case_at(name: str, results: str) -> dict[str, Any]:
    return {"cases": [asdict(PackedCase(name, f"cases/{name}", "", results, ()))]}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"links": {LINK: "../../../.."}}, "leads out of its case"),
        ({"links": {LINK: "/etc"}}, "leads out of its case"),
        ({"links": {LINK: "deep/../../../x"}}, "leads out of its case"),
        ({"links": {LINK: ".", f"{LINK}2": "way/.."}}, "leads out of its case"),
        ({"links": {"cases/a/data/way": "shared"}}, "leads out of its case"),
        ({"links": {"classes/way": "x"}}, "leads out of its case"),
        ({"links": {"cases/b/data/shared/way": "."}}, "leads out of its case"),
        ({"links": {"../way": "x"}}, "is no name of a file in it"),
        ({"links": {"cases/a/data/shared/deep": "."}}, "is a file and a folder"),
        ({"links": {"cases/a/data/shared/in.txt": "."}}, "is a file and a link"),
        ({"cases": (), "links": {}}, "it holds no case"),
        ({"classes": ("classes/1/x",)}, "the folder 'classes/1/x' is not in it"),
        (case_at("b", "results/b"), "the case 'b' is not in it"),
        (case_at("a", "../.."), "the case 'a' is not in it"),
        (case_at("a", "results/b"), "'a' is not in it"),
        ({"cases": [case_at("a", "results/a")["cases"][0]] * 2}, "two cases in it have"),
        ({"version": 2}, "version 2, and this Benchyard reads"),
        ({"format": "x"}, "it is x version 1"),
        ({"files": None}, "not readable"),
        ({"files": []}, "not readable"),
        ({"files": {META: {"sha256": "xyz", "bytes": 1}}}, "has no digest"),
        ({"files": {META: {"sha256": "0" * 64, "bytes": -1}}}, "has no digest, or no size"),
        ({"files": {META: {"sha256": "0" * 64, "bytes": 10**400}}}, "larger than any disk"),
    ],
)
def test_a_manifest_that_is_none_or_leads_astray(changed: dict[str, Any], words: str) -> None:
    document = {**json.loads(manifest_of(FILES).to_bytes()), **changed}
    with pytest.raises(InputError, match=words):
        read_manifest(json.dumps(document).encode())


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "/x", "x", "cases", "cases/", "cases//x", "cases/../x", "cases/./x"),
        *("cases/x/..", "cases/a\n", "cases/a\0", "cases/a\\b", "C:/x", "reproduced/x"),
        *("pack.json", "cases/" + "x" * 5000, "cases/" + "a/" * 1980 + "x"),
    ],
)
def test_names_that_lead_astray(name: str) -> None:
    assert not is_safe(name)
    with pytest.raises(InputError, match="is no name of a file in it"):
        read_manifest(manifest_of({**FILES, name: b""}).to_bytes())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    key=st.sampled_from(["cases", "classes", "files", "links", "packages", "images"]),
    value=json_values,
)
def test_any_manifest_is_read_or_refused(key: str, value: Any) -> None:
    document = {**json.loads(manifest_of(FILES).to_bytes()), key: value}
    try:
        read = read_manifest(json.dumps(document).encode())
    except InputError:
        return
    assert all(map(is_safe, read.files))


@given(name=st.text(max_size=40), target=st.text("./abc", max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_name_and_no_link_leads_out(
    tmp_path_factory: pytest.TempPathFactory, name: str, target: str
) -> None:
    """What the manifest's rules let pass stays inside, as the system itself sees it."""
    base = tmp_path_factory.mktemp("pack")
    if is_safe(f"cases/{name}"):
        assert Path(os.path.normpath(base / "cases" / name)).is_relative_to(base / "cases")
    try:
        read_manifest(manifest_of(FILES, links={LINK: target}).to_bytes())
    except InputError:
        return
    shared = base / "cases/a/data/shared"
    shared.mkdir(parents=True)
    (shared / "way").symlink_to(target)
    assert Path(os.path.realpath(shared / "way")).is_relative_to(shared)
