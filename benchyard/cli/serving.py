"""``benchyard serve``: results in a browser."""

import secrets
from pathlib import Path

import click

from benchyard.cli.common import json_option, say_passed_over
from benchyard.cli.option_types import InputFile, NamedPath, Whole
from benchyard.cli.terminal import print_json, say
from benchyard.core.errors import InputError
from benchyard.lab import server
from benchyard.web import serving


@click.command("serve")
@click.argument(
    "folders", nargs=-1, type=NamedPath(exists=True, file_okay=False), metavar="[FOLDER]..."
)
@click.option(
    "--port",
    default=serving.PORT,
    show_default=True,
    type=Whole(0, 65535),
    help="0 takes a free one.",
)
@click.option(
    "--host",
    default=serving.LOOPBACK,
    metavar="ADDRESS",
    show_default=True,
    help="Address to listen on; all but this machine's own want a token.",
)
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="Name by which a proxy on this machine is asked, without port; may be given repeatedly.",
)
@click.option(
    "--token",
    envvar="BENCHYARD_EXPLORER_TOKEN",
    metavar="TOKEN",
    help="What callers must know. BENCHYARD_EXPLORER_TOKEN keeps it off the command line; for "
    "another host than this machine one is made if it is left out.",
)
@click.option("--token-file", type=InputFile(), help="Take the token from a file.")
@click.option("--open", "opening", is_flag=True, help="Open it in a browser.")
@click.option(
    "--prefect-ui",
    metavar="URL",
    help="Prefect's UI, for links to flow runs.  [default: of the server that is configured]",
)
@json_option
def command(
    folders: tuple[Path, ...],
    port: int,
    host: str,
    allowed_hosts: tuple[str, ...],
    token: str | None,
    token_file: Path | None,
    prefect_ui: str | None,
    *,
    opening: bool,
    as_json: bool,
) -> None:
    """Show results in a browser.

    Reads results below each FOLDER, by default the current one; changes nothing. Ctrl-C ends it.

    Example:
        benchyard serve
    """
    from benchyard.catalogue.catalogue import Catalogue  # noqa: PLC0415 - help does without
    from benchyard.web.explorer import Explorer  # noqa: PLC0415

    known = _token(token, token_file, host)
    listening = serving.listen(host, port)
    with Catalogue(folders or (Path(),), look=False).watching() as catalogue:
        explorer = Explorer(
            catalogue,
            token=known,
            prefect_ui=prefect_ui or server.ui_address(),
            host_names=serving.names_of(host, allowed_hosts),
        )
        inside = (place for root in folders or (Path(),) for place in root.iterdir())
        say_passed_over([place for place in inside if place.is_symlink() and place.is_dir()])
        url = serving.login_address(serving.address_of(listening, host), known)
        if as_json:
            print_json({"url": url, "folders": [str(root) for root in catalogue.roots]})
        else:
            say(f"the explorer is at {url}; Ctrl-C ends it")
        if opening:
            click.launch(url)
        serving.make_server(explorer).run([listening])


def _token(given: str | None, file: Path | None, host: str) -> str | None:
    if given is not None and file is not None:
        raise InputError("--token and --token-file exclude each other")
    if given is not None:
        return serving.check_token(given, "--token")
    if file is not None:
        return serving.read_token(file)
    return None if serving.is_loopback(host) else secrets.token_urlsafe(24)
