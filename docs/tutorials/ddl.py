# %% [markdown]
# # Diverse Dictionary Learning: causes behind nonlinear measurements
#
# Each measurement depends on *some* of the hidden causes, through a smooth function that nobody knows. Diverse
# Dictionary Learning penalises the decoder's derivatives, so that the learned causes act on as few measurements as
# possible; where the true dependencies are diverse enough, these are the true causes. This tutorial tests that on
# made data. It takes a minute and a half of one CPU core.
#
# Paper: *Diverse Dictionary Learning*. Its tables and figures are rebuilt by `python run.py experiment=ddl/table3`
# and others: see [its page](../../src/sparseid/papers/ddl/README.md).

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

import sparseid

# %% [markdown]
# Three causes, twelve measurements; each measurement depends on one or two causes, and no two causes on the same
# ones.

# %%
rng = np.random.default_rng(0)
depends = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]] * 2, dtype=float)
causes = rng.normal(size=(5000, 3))
mixed = causes @ (depends * rng.uniform(0.5, 1.5, depends.shape) * rng.choice([-1, 1], depends.shape)).T
measured = pd.DataFrame(
    np.where(mixed > 0, mixed, 0.3 * mixed), columns=[f"sensor {number}" for number in range(1, 13)]
)

# %%
model = sparseid.DiverseDictionary(latents=3, random_state=0).fit(measured)
print(model.rows_)

# %% [markdown]
# `jacobian_` is the mean size of the derivative of each measurement by each latent. The columns are matched with the
# true causes by their correlations, which also give the mean correlation coefficient (MCC): 1 if each cause is found
# up to its scale.


# %%
def matched(found):
    """Return the order in which columns match the causes best, and the mean correlation coefficient."""
    correlations = np.abs(np.corrcoef(causes.T, found.T)[:3, 3:])
    rows, columns = linear_sum_assignment(-correlations)
    return columns, correlations[rows, columns].mean()


found = model.transform(measured).to_numpy()
order, mcc = matched(found)
centred = measured - measured.mean()
scores = np.linalg.svd(centred.to_numpy(), full_matrices=False)
pca_order, pca_mcc = matched(scores[0][:, :3])
print(f"MCC {mcc:.2f}, of PCA {pca_mcc:.2f}")

# %%
figure, axes = plt.subplots(1, 3, figsize=(8, 4), sharey=True, layout="constrained")
learned = model.jacobian_.to_numpy()[:, order] * found[:, order].std(axis=0)
pca = np.abs(scores[2][:3].T[:, pca_order])
for ax, (title, weights) in zip(axes, {"truth": depends, "learned": learned, "PCA": pca}.items(), strict=True):
    ax.imshow(weights / weights.max(axis=1, keepdims=True), aspect="auto", cmap="Greys", vmin=0, vmax=1)
    ax.set(title=title, xlabel="cause", xticks=range(3))
axes[0].set_yticks(range(12), measured.columns)
plt.show()

# %% [markdown]
# `structure_` is the same as yes or no. How many of the 36 entries are right?

# %%
right = (model.structure_.to_numpy()[:, order] == depends).sum()
print(f"{right} of {depends.size} entries of the structure are right")

# %%
Path("tutorial").mkdir(exist_ok=True)
measured.to_csv("tutorial/sensors.csv", index=False)
model.save("tutorial/sensors")
again = sparseid.DiverseDictionary.load("tutorial/sensors")
print(np.array_equal(again.transform(measured), model.transform(measured)))

# %% [markdown]
# **Before you trust it.** One run is one seed. This is the same fit from a shell, in the folder that has `tutorial/`:
#
# ```
# python -m sparseid experiment=ddl/arrays data.path=tutorial/sensors.csv data.latents=3 "seeds=[]"
# ```
#
# Without `"seeds=[]"` it trains three seeds, and says how far they differ. The weight of the penalty is
# `method.alpha=0.05`, here `settings={"method.alpha": 0.05}`; compare structures at several weights.
