"""``reap space``: an action space for a table, drafted for review or read back in plain words."""

from __future__ import annotations

from pathlib import Path

import typer


def space(
    file: Path = typer.Argument(
        ..., help="A CSV file to draft a space for, or a TOML file to check and describe."
    ),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Write the draft here instead of to the terminal."
    ),
    label: list[str] = typer.Option(
        [], "--drop", help="Columns that are not features (the label, an id); repeatable."
    ),
    fixed: list[str] = typer.Option([], "--fixed", help="Features nobody can change; repeatable."),
) -> None:
    """Draft the action space of a CSV file as TOML with comments, or describe the one in a TOML file."""
    import pandas as pd

    import reap
    from reap._errors import InputError, unknown

    if file.suffix == ".toml":
        print(reap.ActionSpace.load(file).describe())
        return
    try:
        table = pd.read_csv(file)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is not a CSV file that can be read: {error}") from None
    for name in label:
        if name not in table.columns:
            raise unknown("column", name, table.columns)
    table = table.drop(columns=label)
    gaps = [name for name in table.columns if table[name].isna().any()]
    made = reap.ActionSpace.from_frame(table, immutable=fixed, missing=gaps)
    text = made.to_toml(comments=True)
    if output is None:
        print(text, end="")
    else:
        output.write_text(text, encoding="utf-8")
        print(
            f"Wrote {output}: {len(made.features)} features. Review what may change, then check it with: reap space {output}"
        )
