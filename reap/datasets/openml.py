"""Tables made from what OpenML holds, in the form of the files they replace.

The numbers may differ a little from the files: OpenML's Adult has ten rows more, and what is unknown there is
read as the commonest level.
"""

from __future__ import annotations

from typing import Any
from urllib.error import URLError

import pandas as pd

from reap._errors import InputError
from reap._typing import Frame
from reap.datasets.catalogue import CatalogueEntry

_BANK = "age job marital education default balance housing loan contact day month duration campaign pdays previous poutcome label"
_SPECIALISTS = ("Adm-clerical", "Exec-managerial", "Prof-specialty", "Tech-support")


def fetch(entry: CatalogueEntry) -> Frame:
    """Return a table from OpenML with our columns and the label; an error that says what to do when offline."""
    from sklearn.datasets import fetch_openml

    try:
        frame = fetch_openml(data_id=entry.openml, as_frame=True, n_retries=1, delay=0.5).frame
    except (URLError, OSError, TimeoutError) as error:
        raise InputError(
            f"{entry.name!r} is not on this computer and OpenML cannot be reached ({error}); go online, or "
            f"put {' and '.join(entry.files)} into the folder named by REAP_DATA"
        ) from None
    return convert(entry.name, frame)


def convert(name: str, frame: Frame) -> Frame:
    """Return OpenML's frame in the form of our file."""
    made: Frame = {"adult": _adult, "bank": _bank}[name](frame)
    return made.reset_index(drop=True)


def _bank(frame: Frame) -> Frame:
    frame = frame.set_axis(_BANK.split(), axis=1)  # OpenML calls them V1 … V16, Class
    keep = ["age", "education", "balance", "housing", "loan", "campaign", "previous", "poutcome"]
    return _plain(frame[keep]).assign(label=(frame["label"].astype(str) == "2").astype("int64"))


def _adult(frame: Frame) -> Frame:
    def either(column: str, among: Any, yes: str, no: str) -> Any:
        known = frame[column].astype(object)
        known = known.mask(known.isna() | (known == "?"))
        return known.fillna(known.mode()[0]).isin(among).map({True: yes, False: no})

    numbers = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    made = _plain(frame[numbers]).assign(
        **{
            "workclass": either("workclass", ["Private"], "Private", "Non-Private"),
            "marital-status": either(
                "marital-status", ["Married-civ-spouse", "Married-AF-spouse"], "Married", "Non-Married"
            ),
            "occupation": either("occupation", _SPECIALISTS, "Managerial-Specialist", "Other"),
            "relationship": either("relationship", ["Husband"], "Husband", "Non-Husband"),
            "race": either("race", ["White"], "White", "Non-White"),
            "sex": frame["sex"].astype(object),
            "native-country": either("native-country", ["United-States"], "US", "Non-US"),
        }
    )
    return made.assign(label=frame["class"].astype(str).str.startswith(">50K").astype("int64"))


def _plain(frame: Frame) -> Frame:
    """Return a frame without categories; whole numbers as integers."""
    return frame.apply(lambda c: c.astype("int64") if pd.api.types.is_numeric_dtype(c) else c.astype(object))
