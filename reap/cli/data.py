"""``reap datasets``, ``reap space``: what can be loaded by name; an action space drafted, read back in words, questioned."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console


def datasets() -> None:
    """List the data sets: rows, features, source, licence, and whether each is at hand."""
    import reap

    say = Console(highlight=False).print
    for entry in reap.datasets.available():
        at_hand = "[green]at hand[/]" if entry.present else "[yellow]not at hand[/]"
        say(
            f"[bold]{entry.name:<10}[/] {entry.rows:>7,} rows  {entry.features:>3} features  {at_hand}  {entry.title}"
        )
        say(f"[dim]           {entry.source}. Licence: {entry.licence}.[/]", soft_wrap=True)
        if not entry.present:
            say(f"[dim]           To get it: {entry.where}.[/]", soft_wrap=True)
    say(
        "\nLoad one with [bold]reap.datasets.load(name)[/]; a table of your own with [bold]reap.datasets.from_csv[/]."
    )


def space(
    file: Path = typer.Argument(
        ..., help="A CSV file to draft a space for, or a TOML file to check and describe."
    ),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Write the draft here instead of to the terminal."
    ),
    label: str | None = typer.Option(None, "--label", help="The column with the decision; it is no feature."),
    drop: list[str] = typer.Option([], "--drop", help="Other columns that are not features; repeatable."),
    fixed: list[str] = typer.Option([], "--fixed", help="Features nobody can change; repeatable."),
    review: bool = typer.Option(
        False,
        "--review",
        help="List what a careful lender would question; exit code 1 if there is something.",
    ),
    data: Path | None = typer.Option(
        None, "--data", help="With --review of a TOML file: a CSV file of rows."
    ),
    model: Path | None = typer.Option(
        None, "--model", help="With --review and --data: a trained model (skops file), to look for cliffs."
    ),
    trust: list[str] = typer.Option(
        [], "--trust", help="A type in the model's file that you trust; repeatable."
    ),
) -> None:
    """Draft the action space of a CSV file as TOML, every guess marked; or describe, or review, the one in a TOML file."""
    import reap
    from reap._errors import InputError
    from reap.datasets import read_csv
    from reap.models.files import load_model
    from reap.space import draft
    from reap.space.table import plain_numbers
    from reap.words import counted

    if (data is not None or model is not None) and not review:
        raise InputError("--data and --model are for --review; add it")
    if file.suffix == ".toml":
        made, table = reap.ActionSpace.load(file), None if data is None else read_csv(data)
        if not review:
            print(made.describe())
    else:
        table = read_csv(file, as_written=True)
        first = draft(table, label=label, drop=drop, fixed=fixed)
        made, text = first.space, first.to_toml()
        if output is not None:
            output.write_text(text, encoding="utf-8")
            print(f"Wrote {output}: {len(made.features)} features.")
            for name, why in first.left_out.items():
                print(f"Left out {name}: {why}.")
            marked = text.count("\n# check:")
            print(
                f"Review the {marked} lines marked '# check:', then see what it says (reap space {output}) and what is "
                f"open (reap space {output} --review)."
            )
        elif not review:
            print(text, end="")
    if review:
        trained = None if model is None else load_model(model, trusted=trust)
        findings = made.review(trained, None if table is None else plain_numbers(table))
        for finding in findings:
            print(f"{'note' if finding.note else 'check'}: {finding}")
        asked = sum(not finding.note for finding in findings)
        print(f"{counted(asked, 'question')}, {counted(len(findings) - asked, 'note')}.")
        if asked:
            raise typer.Exit(1)
