"""The command line: a command for every question, with the parameters of its data link as arguments and options."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class
from rich.console import Console

import kbdash
from kbdash.api import address, options
from kbdash.api.answers import SIDES, WHERE, arguments, asked_submission
from kbdash.api.options import Option
from kbdash.api.terminal import FORMATS, Output, columns_of, say
from kbdash.code import diff, export
from kbdash.content.frames import as_frame
from kbdash.database.questions import EVERY_QUESTION
from kbdash.database.questions.kinds import Question
from kbdash.dataset import catalog
from kbdash.dataset.config import Settings
from kbdash.dataset.model import Page
from kbdash.engine import KernelBot
from kbdash.errors import KbdashError
from kbdash.terminal import INTERRUPTED, UNUSABLE, os_error_text, provide_streams, until_pipe_closes
from kbdash.view import Ref

SHELLS = ("bash", "zsh", "fish")
SHORT_NAMES = {"problems": "boards", "leaderboard": "top"}
"""Short names of the questions asked most."""
BY_COMMAND = {SHORT_NAMES.get(name, name.replace("_", "-")): question for name, question in EVERY_QUESTION.items()}
"""Questions by the name of their command."""


class Program(click.Group):
    """The commands. A closed pipe is no failure: its reader has read enough."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in order."""
        return sorted({*super().list_commands(ctx), *BY_COMMAND})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name. Those of questions are created lazily: all take a tenth of the start-up time."""
        if cmd_name in BY_COMMAND and cmd_name not in self.commands:
            self.add_command(question_command(BY_COMMAND[cmd_name], cmd_name))
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command and flush its output."""
        with until_pipe_closes():
            return super().invoke(ctx)
        return 0  # the pipe was closed


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(kbdash.__version__, prog_name="kbdash")
def program() -> None:
    """The KernelBot GPU-kernel competitions: who is fastest, how, and with which code.

    Data go to standard output, everything else to standard error. Exit codes: 0 done, 1 there is no such thing,
    2 not understood, 3 the data cannot be read now.
    """


def run(words: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code. Never shows a traceback."""
    provide_streams()
    try:
        code = program.main(words, prog_name="kbdash", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show(file=sys.stderr)
        return error.exit_code
    except KbdashError as error:
        say(f"{error} {error.advice}")
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        say("Stopped.")
        return INTERRUPTED
    except SystemExit as ended:  # from commands with a parser of their own
        return ended.code if isinstance(ended.code, int) else 0
    except OSError as error:
        say(os_error_text(error))
        return UNUSABLE


@contextmanager
def opened(source: str | None) -> Iterator[KernelBot]:
    """The engine; on a terminal, says what it is doing while it opens."""
    settings = Settings.from_env()
    chosen = settings if source is None else settings.with_source(source)
    with Console(stderr=True).status("Reading the dataset"):
        kb = kbdash.connect(settings=chosen)
        if kb.source.notice:
            say(kb.source.notice)
    try:
        yield kb
    finally:
        kb.close()


def shared(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that every command with an answer has."""
    for option in (
        click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write."),
        click.option("--format", "format_", type=click.Choice(FORMATS), help="Else the ending of -o, else a table."),
        source_option,
    ):
        function = option(function)
    return function


source_option = click.option("--source", help="org/name[@revision], a folder, or sample; else KBDASH_SOURCE.")


def question_command(question: Question, name: str) -> click.Command:
    """The command that asks a question."""
    known = {option.name: option for option in address.options(question)}

    def ask(source: str | None, format_: str | None, output: Path | None, **said: Any) -> None:
        given = {name: _texts(said[_field(name)]) for name in known if said.get(_field(name)) not in (None, ())}
        values = options.read_options(known, given)
        with opened(source) as kb:
            with Console(stderr=True).status(question.name):
                answer = getattr(kb, question.name)(**arguments(kb, values))
                frame = as_frame(answer)
            total = answer.total if isinstance(answer, Page) else len(frame)
            Output(format_, output).answer(frame, question, kb.source, total)
            if total > len(frame):
                say(f"{len(frame):,} of {total:,}; the next are on page -p {answer.page + 1}.")

    parameters = [_parameter(option) for option in known.values()]
    help_ = question.sentence + "\n\n" + _columns_help(question)
    return click.Command(name, callback=shared(ask), params=[*parameters, *_shared_parameters()], help=help_,
                         short_help=question.sentence.partition("? ")[0].rstrip(".?") + ".")  # fmt: skip


def _shared_parameters() -> list[click.Parameter]:
    made = shared(lambda: None)
    return list(reversed(made.__click_params__))  # type: ignore[attr-defined]


def _parameter(option: Option) -> click.Parameter:
    """An argument for a required parameter, an option for any other."""
    complete = {"problem": _problems}.get(option.name.partition("_")[0])
    if option.required:
        count = -1 if option.repeats else 1
        return click.Argument([_field(option.name)], metavar=option.name.upper(), nargs=count, required=True,
                              shell_complete=complete)  # fmt: skip
    names = [f"--{option.name.replace('_', '-')}"] if len(option.name) > 1 else [f"-{option.name}"]
    kind = click.Choice(option.schema["enum"]) if "enum" in option.schema else None
    help_ = option.meaning[0].upper() + option.meaning[1:] + "."
    return click.Option([*names, _field(option.name)], type=kind, multiple=option.repeats, help=help_,
                        shell_complete=complete)  # fmt: skip


def _field(name: str) -> str:
    """The Python name of an option."""
    return f"said_{name}"


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, tuple) else [str(value)]


def _problems(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Boards of the catalog that begin with the text; reads no data."""
    names = sorted(board.name for competition in catalog.COMPETITIONS for board in competition.boards)
    return [CompletionItem(name) for name in names if name.startswith(begun)]


def _columns_help(question: Question) -> str:
    told = [f"{c.name}: {c.meaning}{f' ({c.unit})' if c.unit else ''}" for c in question.columns]
    return "\b\nColumns:\n" + "\n".join(f"  {line}" for line in told)


@program.command()
@click.argument("id", type=click.IntRange(min=0))
@click.option("--runner", help="The machine it ran on, where there were several.")
@click.option("--competition", help="Slug of the competition, where two have the id.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write.")
@source_option
def code(id: int, runner: str | None, competition: str | None, output: Path | None, source: str | None) -> None:  # noqa: A002
    """The source text of a submission, without downloading its file."""
    given = {name: [value] for name, value in (("runner", runner), ("competition", competition)) if value}
    values = options.read_options(WHERE, given)
    with opened(source) as kb:
        one = asked_submission(kb, Ref(id, values.get("runner"), values.get("competition")))  # type: ignore[arg-type]
        Output(file=output).text(kb.text_of(one).text)


@program.command("diff")
@click.argument("a")
@click.argument("b")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write.")
@source_option
def diff_command(a: str, b: str, output: Path | None, source: str | None) -> None:
    """What changed from submission A to B, as a patch; each is ID, ID@RUNNER or ID@RUNNER@COMPETITION."""
    refs: Any = options.read_options(SIDES, {"a": [a], "b": [b]})
    with opened(source) as kb:
        old, new = asked_submission(kb, refs["a"]), asked_submission(kb, refs["b"])
        changes = diff.compare(kb.text_of(old).text, kb.text_of(new).text)
        Output(file=output).text(export.patch(changes, old, new, kb.source))


@program.command()
@click.argument("statement")
@shared
def sql(statement: str, source: str | None, format_: str | None, output: Path | None) -> None:
    """The answer of one SELECT over the view `submissions`; read only."""
    with opened(source) as kb:
        frame = kb.sql(statement)
        question = Question("sql", "", "part", columns_of(frame))
        Output(format_, output).answer(frame, question, kb.source, len(frame))
        if frame.attrs.get("truncated"):
            say(f"Cut at {len(frame):,} rows.")


@program.command()
@click.argument("problem", shell_complete=_problems)
@click.option("--runner", help="Label of a machine.")
@click.option("--top", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many ranks.")
@click.option("--from", "since", help="First UTC day.")
@click.option("--to", "until", help="Last UTC day, included.")
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder.")
@source_option
def dump(
    problem: str, runner: str | None, top: int, since: str | None, until: str | None, output: Path, source: str | None
) -> None:
    """Write the top kernels of a board as files, with a CSV of facts and the citation."""
    with opened(source) as kb:
        facts = kb.dump(problem, runner, folder=output, top=top, since=since, until=until)
        say(f"{output}: {len(facts)} kernels.")


@program.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """The script that completes words in a shell: eval "$(kbdash completion bash)"."""
    known = get_completion_class(shell)
    if known is not None:
        click.echo(known(program, {}, "kbdash", "_KBDASH_COMPLETE").source())
