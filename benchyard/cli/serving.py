"""``benchyard serve``: results in a browser."""

from pathlib import Path

import click

from benchyard.catalogue.catalogue import Catalogue
from benchyard.cli.terminal import say
from benchyard.web.app import make_app
from benchyard.web.explorer import Explorer


@click.command("serve")
@click.argument("folders", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535))
def command(folders: tuple[Path, ...], port: int) -> None:
    """Show the results below FOLDERS, by default this one, in a browser."""
    import uvicorn  # noqa: PLC0415

    with Catalogue(folders or (Path(),), look=False).watching() as catalogue:
        say(f"http://127.0.0.1:{port}/")
        app = make_app(Explorer(catalogue))
        uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
