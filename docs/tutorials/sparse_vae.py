# %% [markdown]
# # Sparse VAE: which questions of a survey belong together
#
# A Sparse VAE explains a table by latent factors, each of which *few* columns depend on. So a factor can be read off
# the columns that carry it. This tutorial makes a survey whose factors are known, lets the model find them, and
# compares with PCA. It takes three minutes of one CPU core.
#
# Paper: *Identifiable Deep Generative Models via Sparse Decoding*. Its tables and figures are rebuilt by `python
# run.py experiment=sparse_vae/table1` and others: see [its page](../../src/sparseid/papers/sparse_vae/README.md).

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import sparseid

# %% [markdown]
# 3,000 people answer 13 questions. Questions 1 to 4 depend on the first factor, 5 to 8 on the second, 9 to 12 on the
# third, each in its own, not always linear way; the last question depends on the first two. The model will see only
# the answers.

# %%
rng = np.random.default_rng(0)
depends = np.vstack([np.repeat(np.eye(3), 4, axis=0), [1, 1, 0]])  # questions x factors
factors = rng.normal(size=(3000, 3))
answers = factors @ (depends * rng.uniform(0.5, 1.5, depends.shape)).T
answers[:, ::2] = np.tanh(answers[:, ::2])
answers += rng.normal(scale=0.3, size=answers.shape)
survey = pd.DataFrame(answers, columns=[f"question {number}" for number in range(1, 14)])
print(survey.head(3).round(2).T)

# %% [markdown]
# We offer four factors, one more than there are. `fit` is a run of `experiment=sparse_vae/arrays`, with the same
# weights to the last bit.

# %%
model = sparseid.SparseVAE(latents=4, patience=0, random_state=0).fit(survey)
print(model.rows_)

# %% [markdown]
# Errors are those on a fifth of the rows, which training does not see. As the warning says, PCA with four components
# predicts a little better: nothing keeps it from using every component for every question. What it does not give is the
# *structure*:

# %%
centred = (survey - survey.mean()) / survey.std()
components = np.linalg.svd(centred.to_numpy(), full_matrices=False)[2][:4].T
figure, axes = plt.subplots(1, 3, figsize=(8, 4), sharey=True, layout="constrained")
shown = {"truth": depends, "Sparse VAE": model.factors_.abs().to_numpy(), "PCA": np.abs(components)}
for ax, (title, weights) in zip(axes, shown.items(), strict=True):
    ax.imshow(weights / np.abs(weights).max(), aspect="auto", cmap="Greys", vmin=0, vmax=1)
    ax.set(title=title, xlabel="factor", xticks=range(weights.shape[1]))
axes[0].set_yticks(range(13), survey.columns)
plt.show()

# %% [markdown]
# `mask_` says which entries are in use, that is, more probable under the wide part of the prior than under the narrow
# one. Is each true factor found once? We match the columns of mask and truth.

# %%
for factor in model.mask_:
    used = model.mask_[factor].to_numpy()
    print(f"{factor}: {', '.join(str(1 + number) for number in np.flatnonzero(used)) or 'unused'}")
agree = [(model.mask_.to_numpy() == truth[:, None]).all(axis=0).any() for truth in depends.T == 1]
print(f"{sum(agree)} of 3 true factors have exactly their questions")

# %% [markdown]
# The factors of a person are what `transform` returns. Up to sign and scale, those in use are the true ones, as
# correlations show.

# %%
found = model.transform(survey)
correlations = pd.DataFrame(
    np.corrcoef(factors.T, found.T)[:3, 3:].round(2),
    index=[f"true factor {number}" for number in (1, 2, 3)],
    columns=found.columns,
)
print(correlations)

# %% [markdown]
# A saved model is a folder without pickled objects; nothing in it is executed when it is loaded.

# %%
Path("tutorial").mkdir(exist_ok=True)
survey.to_csv("tutorial/survey.csv", index=False)
model.save("tutorial/survey")
again = sparseid.SparseVAE.load("tutorial/survey")
print(np.array_equal(again.transform(survey), found))

# %% [markdown]
# **Before you trust it.** One run is one seed. This is the same fit from a shell, in the folder that has `tutorial/`:
#
# ```
# python -m sparseid experiment=sparse_vae/arrays data.path=tutorial/survey.csv method.latents=4 \
#     trainer.early_stop.patience=0 "seeds=[]"
# ```
#
# Without `"seeds=[]"` it trains three seeds, and says how far they differ. `patience=0` trains to the end; by default
# the training stops when held-out rows get worse, which predicts better and leaves the selectors less sparse. With 300
# people in place of 3,000, try whether the structure is still found.
