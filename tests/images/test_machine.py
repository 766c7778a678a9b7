"""What of a machine's settings goes into images, read from what apt, pip and npm say."""

import pytest

from tests.images import machine

TARGETS = """\
http://mirror.example/debian/ bookworm main
http://mirror.example/debian/ bookworm contrib
http://mirror.example/debian/ bookworm-updates main
http://other.example/debian/ bookworm main
https://safe.example/debian/ bookworm-security main
https://tools.example/apt/ nodistro main
file:/srv/local/ bookworm main
"""


def test_only_the_mirrors_of_the_image_s_debian_are_taken() -> None:
    assert machine.suite_mirrors(TARGETS, "bookworm") == {
        "bookworm": "http://mirror.example/debian/",
        "bookworm-updates": "http://mirror.example/debian/",
        "bookworm-security": "https://safe.example/debian/",
    }
    assert machine.suite_mirrors(TARGETS, "trixie") == {}
    assert machine.suite_mirrors("", "bookworm") == {}
    written = machine.apt_sources(machine.suite_mirrors(TARGETS, "bookworm"))
    assert written.splitlines()[0] == "deb http://mirror.example/debian/ bookworm main"
    assert machine.apt_sources({}) == ""


def test_apt_s_proxies_are_taken_and_nothing_that_runs_here() -> None:
    dump = """\
APT::Architecture "amd64";
Acquire::http "";
Acquire::http::Proxy "http://proxy.example:3128";
Acquire::http::Proxy::mirror.example "DIRECT";
Acquire::http::Proxy-Auto-Detect "/usr/local/bin/find-proxy";
Acquire::https::Proxy "";
Acquire::Retries "5";
"""
    assert machine.apt_options(dump, "").splitlines() == [
        'Acquire::http::Proxy "http://proxy.example:3128";',
        'Acquire::http::Proxy::mirror.example "DIRECT";',
        'Acquire::Retries "5";',
    ]


def test_certificates_are_named_where_the_image_has_them() -> None:
    assert machine.apt_options("", "/c.pem") == 'Acquire::https::CAInfo "/c.pem";\n'
    assert machine.pip_options("", "/c.pem") == "[global]\ncert = /c.pem\n"
    assert machine.npm_options("", "/c.pem") == 'cafile="/c.pem"\n'


def test_pip_s_environment_is_above_its_files() -> None:
    listing = """\
:env:.index-url='https://one.example/simple'
global.index-url='https://two.example/simple'
global.timeout='60'
install.timeout='90'
list.format='json'
"""
    assert machine.pip_options(listing, "").splitlines() == [
        "[global]",
        "index-url = https://one.example/simple",
        "timeout = 90",
    ]


def test_paths_of_this_machine_are_left_out_of_pip_s_options() -> None:
    listing = """\
global.cert='/here/ca.pem'
global.extra-index-url='file:///srv/simple\\nhttps://one.example/simple /srv/more'
global.find-links='/srv/wheels'
"""
    written = machine.pip_options(listing, "")
    assert written == "[global]\nextra-index-url = https://one.example/simple\n"


def test_npm_s_registry_is_taken_and_no_password() -> None:
    listing = """{
      "registry": "https://npm.example/", "proxy": null, "strict-ssl": false, "noproxy": [""],
      "//npm.example/:_authToken": "secret", "cafile": "/here/ca.pem"
    }"""
    written = machine.npm_options(listing, "")
    assert written.splitlines() == ['registry="https://npm.example/"', "strict-ssl=false"]


def test_a_machine_without_the_programs_has_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: str) -> bytes:
        return b""

    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.executable", "no-such-python")
    monkeypatch.setattr(machine, "_certificates", none)

    assert machine.mirrors("bookworm") == {}
    assert machine.files("bookworm") == {"etc/pip.conf": b"[global]\n"}


def test_proxies_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "https_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("HTTPS_PROXY", "")

    found = machine.proxies()

    assert found["http_proxy"] == "http://proxy.example:3128"
    assert "HTTPS_PROXY" not in found
