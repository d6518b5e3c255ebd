"""German credit, the exact file of the UCI repository, with names for its codes.

Statlog (German Credit Data), Hans Hofmann, Universität Hamburg, 1994; UCI Machine Learning Repository,
https://doi.org/10.24432/C5NC77, licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/). The
file ``german.data`` is unchanged, compressed; this module only gives its columns and codes readable names.
"""

from __future__ import annotations

import gzip
import io
from importlib.resources import files

import pandas as pd

from reap._typing import Frame

#: sha256 of the file of the UCI repository.
SHA256 = "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871"

_COLUMNS = (
    "status duration history purpose amount savings employment installment_rate personal_status guarantor residence_since "
    "property age other_plans housing existing_credits job dependents telephone foreign_worker label"
)

#: The columns that a layman understands.
FAMILIAR = "status duration amount savings employment personal_status guarantor age other_plans housing"

_CODES = {
    "A11": "below 0 DM",
    "A12": "0 to 200 DM",
    "A13": "200 DM or more",
    "A14": "no account",
    "A30": "no credits or all paid back",
    "A31": "all at this bank paid back",
    "A32": "paid back so far",
    "A33": "delays in the past",
    "A34": "critical or credits elsewhere",
    "A40": "new car",
    "A41": "used car",
    "A42": "furniture",
    "A43": "radio or television",
    "A44": "household appliances",
    "A45": "repairs",
    "A46": "education",
    "A47": "holiday",
    "A48": "retraining",
    "A49": "business",
    "A410": "other",
    "A61": "below 100 DM",
    "A62": "100 to 500 DM",
    "A63": "500 to 1,000 DM",
    "A64": "1,000 DM or more",
    "A65": "none or unknown",
    "A71": "unemployed",
    "A72": "less than 1 year",
    "A73": "1 to 4 years",
    "A74": "4 to 7 years",
    "A75": "7 years or more",
    "A91": "divorced or separated man",
    "A92": "married or divorced woman",
    "A93": "single man",
    "A94": "married or widowed man",
    "A95": "single woman",
    "A101": "none",
    "A102": "co-applicant",
    "A103": "guarantor",
    "A121": "real estate",
    "A122": "building savings or life insurance",
    "A123": "car or other",
    "A124": "none or unknown",
    "A141": "at a bank",
    "A142": "at stores",
    "A143": "none",
    "A151": "rented",
    "A152": "owned",
    "A153": "free of charge",
    "A171": "unskilled non-resident",
    "A172": "unskilled resident",
    "A173": "skilled",
    "A174": "management or highly qualified",
    "A191": "no",
    "A192": "yes",
    "A201": "yes",
    "A202": "no",
}


def raw() -> bytes:
    """Return the file as the UCI repository has it."""
    return gzip.decompress((files("reap.datasets") / "german.data.gz").read_bytes())


def table() -> Frame:
    """Return all twenty columns with readable levels, and the label: 1 for a good loan.

    Examples
    --------
    >>> table().loc[1, ["status", "duration", "amount", "label"]].to_dict()
    {'status': '0 to 200 DM', 'duration': 48, 'amount': 5951, 'label': 0}
    """
    frame = pd.read_csv(io.BytesIO(raw()), sep=" ", header=None, names=_COLUMNS.split())
    coded = [c for c in frame.columns if not pd.api.types.is_numeric_dtype(frame[c])]
    frame[coded] = frame[coded].apply(lambda column: column.map(_CODES))
    return frame.assign(label=(frame["label"] == 1).astype("int64"))
