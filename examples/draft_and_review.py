# %% [markdown]
# # Drafting and reviewing a space
# From a table nobody has described to an action space that a careful lender would sign.

# %%
import io

import pandas as pd

import reap

table = pd.read_csv(
    io.StringIO("""id,income_eur,debt_eur,amount_eur,duration_months,savings,age,sex,decision
1,1800,400,9000,48,none,23,f,no
2,2600,900,6000,36,some,35,m,yes
3,1500,1500,7500,60,none,51,m,no
4,3900,0,12000,60,much,44,f,yes
5,2200,300,3000,24,some,29,f,yes
6,1700,2500,8000,36,none,31,m,no
7,3100,700,15000,72,some,38,f,no
8,2900,200,5000,24,much,60,m,yes
""")
)

# %% [markdown]
# ## The draft
# Every guess is marked `# check:`. The row number is left out, income may only rise, debt only fall, age is a clock, sex is
# nobody's advice. At the command line: `reap space loans.csv --label decision -o space.toml`.

# %%
draft = reap.space.draft(table, label="decision")
print(draft.to_toml())

# %% [markdown]
# ## The review
# A reader with experience, not a judge. What it still asks is for somebody who knows the product.

# %%
for finding in draft.space.review():
    print(finding)

# %% [markdown]
# ## What we answer
# The amount and the duration are chosen on the day; debt is paid off by at most 100 EUR a month; savings take half a year a
# level; income takes time as well. Words make the plan readable.

# %%
space = reap.ActionSpace(
    [
        reap.Feature(
            "income_eur",
            "integer",
            range=(1500, 3900),
            direction="up",
            step=50,
            pace="25 € a month",
            label="Monthly income",
            unit="€",
        ),
        reap.Feature(
            "debt_eur",
            "integer",
            range=(0, 2500),
            direction="down",
            step=100,
            pace="100 € a month",
            label="Debt",
            unit="€",
        ),
        reap.Feature(
            "amount_eur",
            "integer",
            range=(3000, 15000),
            direction="down",
            step=500,
            when="application",
            label="Loan amount",
            unit="€",
        ),
        reap.Feature(
            "duration_months",
            "integer",
            range=(24, 72),
            direction="both",
            step=12,
            when="application",
            label="Loan duration",
            unit="months",
        ),
        reap.Feature(
            "savings",
            "ordinal",
            levels=("none", "some", "much"),
            direction="up",
            pace="6 months a level",
            label="Savings",
        ),
        reap.Feature("age", "integer", range=(18, 80), clock="years", label="Age", unit="years"),
        reap.Feature("sex", "binary", levels=("f", "m"), actionable=False, label="Sex"),
    ],
    horizon=24,
)
print(space.review() or "Nothing is left to ask.")

# %% [markdown]
# The space is a file under version control, and it speaks.

# %%
print(space.describe())

# %% [markdown]
# People whose numbers look like a slip are asked, not served.

# %%
person = {
    "income_eur": 1800,
    "debt_eur": 400,
    "amount_eur": 9000,
    "duration_months": 48,
    "savings": "none",
    "age": 95,
    "sex": "f",
}
for doubt in space.doubts(person):
    print(doubt)
