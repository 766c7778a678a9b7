"""What of a machine's settings goes into images, read from what apt, pip and npm say."""

from tests.images import machine


def test_npm_s_registry_is_taken_and_no_password() -> None:
    listing = """{
      "registry": "https://npm.example/", "proxy": null, "strict-ssl": false, "noproxy": [""],
      "//npm.example/:_authToken": "secret", "cafile": "/here/ca.pem"
    }"""
    written = machine.npm_options(listing, "")
    assert written.splitlines() == ['registry="https://npm.example/"', "strict-ssl=false"]
