"""`kbdash` and `python -m kbdash`: the command line, with the commands that need the rest of the program."""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

import click

from kbdash.api.command import opened, program, run, source_option

PASSED_ON = {"ignore_unknown_options": True, "help_option_names": []}


@program.command()
@click.option("--address", default="127.0.0.1", show_default=True, help="Where to listen; 0.0.0.0 is everywhere.")
@click.option("--port", type=click.IntRange(0, 65535), default=8501, show_default=True)
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="More than one need HAProxy.")
@source_option
def serve(address: str, port: int, workers: int, source: str | None) -> None:
    """The dashboard, with data links and agents' server, until told to stop."""
    from kbdash.web.server import launcher, worker  # noqa: PLC0415  (no other command imports Streamlit)

    if source:
        os.environ["KBDASH_SOURCE"] = source
    click.echo(f"http://{address}:{port}", err=True)
    if workers > 1:
        launcher.serve(address, port, workers)
    else:
        worker.run(address, port)


@program.command()
@source_option
def mcp(source: str | None) -> None:
    """A server for agents (Model Context Protocol) on standard input and output."""
    from kbdash.api.agents import agents_server  # noqa: PLC0415  (a slow import that only this command needs)

    with opened(source) as kb:
        agents_server(lambda: kb).run("stdio")


def _passed_on(name: str, module: str, words: str) -> None:
    """A command with a parser of its own."""

    @click.argument("rest", nargs=-1, type=click.UNPROCESSED)
    def forward(rest: Sequence[str]) -> int:
        main: Callable[[list[str]], int] = import_module(module).main
        return main(list(rest))

    program.command(name, help=words, context_settings=PASSED_ON, add_help_option=False)(forward)


_passed_on("content", "kbdash.content.command", "The store of all source texts: build, status, check, push.")
_passed_on("deploy", "kbdash.deploy.command", "kbdash as a Hugging Face Space: deploy OWNER/NAME, --dry-run.")


def main() -> None:
    """The entry point."""
    sys.exit(run())


if __name__ == "__main__":
    main()
