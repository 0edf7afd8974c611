# %% [markdown]
# # TBR: where along a tree an effect changes
#
# The same measurements may mean different things in different tissues, species or hospitals. Tree-based
# regularisation learns latents whose weights for a label *change rarely along a tree* of these environments, so that
# one sees on which branch an effect appears. This tutorial makes data in which that is known. It takes a minute on
# two CPU cores.
#
# Paper: tree-based regularisation for identifiable latents. Its figures are rebuilt by `python run.py
# experiment=tbr/fig3` and others: see [its page](../../src/sparseid/papers/tbr/README.md).

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import sparseid

# %% [markdown]
# Six tissues on a tree, and two latents (say, the activities of two programmes) that act on a response. The first has
# an effect of 1, but of 3 in the vessels and -1 in the lung. The second acts in the brain and the heart only. Twenty
# genes are a nonlinear mixture of the two.

# %%
tree = "((cortex,cerebellum)brain,((artery,heart)vessels,(skin,lung)surfaces)body)root;"
tissues = ["cortex", "cerebellum", "artery", "heart", "skin", "lung"]
effects = pd.DataFrame({"latent 1": [1, 1, 3, 3, 1, -1], "latent 2": [1.5, 1.5, 0, 1.5, 0, 0]}, index=tissues)
rng = np.random.default_rng(0)
tissue = rng.choice(tissues, size=6000)
latents = rng.normal(size=(6000, 2))
mixed = latents @ rng.normal(size=(2, 20))
genes = pd.DataFrame(np.where(mixed > 0, mixed, 0.2 * mixed), columns=[f"gene {number}" for number in range(20)])
response = (effects.loc[tissue].to_numpy() * latents).sum(axis=1) + rng.normal(scale=0.3, size=6000)

# %% [markdown]
# The training may end in a mixture of the latents that is nearly as sparse. So we train three seeds, and take the one
# whose weights change least along the tree, at the same error: that needs no knowledge of the truth.

# %%
models = [
    sparseid.TBR(latents=2, tree=tree, max_samples=160_000, patience=0, random_state=seed).fit(genes, response, tissue)
    for seed in range(3)
]
changes = [model.deltas_ * model.transform(genes).std() for model in models]  # by a latent of standard deviation 1
pd.DataFrame(
    {
        "error": [model.rows_["value"][0] for model in models],
        "size of changes": [change.abs().to_numpy().sum() for change in changes],
    }
).rename_axis("seed").round(4)

# %%
best = int(np.argmin([change.abs().to_numpy().sum() for change in changes]))
model = models[best]
model.rows_

# %% [markdown]
# The error is in units of the label's variance, on rows that training did not see. A ridge regression of each tissue,
# with its own weights for all genes, predicts as well. What it does not say is *where* along the tree something
# changes. Arcs are named after their lower end:

# %%
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
changes[best].plot.bar(ax=ax, color=["tab:blue", "tab:orange"])
ax.set(ylabel="change of the weight", xlabel="arc of the tree")
plt.show()

# %% [markdown]
# Are the learned latents the true ones, up to sign and scale?

# %%
found = model.transform(genes)
pd.DataFrame(np.corrcoef(latents.T, found.T)[:2, 2:].round(2), index=effects.columns, columns=found.columns)

# %% [markdown]
# A response is predicted from genes and tissue.

# %%
pd.DataFrame({"predicted": model.predict(genes[:3], tissue[:3]), "true": response[:3]}, index=tissue[:3]).round(2)

# %%
model.save("tissues")
again = sparseid.TBR.load("tissues")
print(np.array_equal(again.transform(genes), found))

# %% [markdown]
# **Before you trust it.** `python run.py experiment=tbr/arrays data.path=table.csv data.tree=tree.nwk
# data.environment=tissue data.label=response` trains three seeds. Without a tree, `tree="cluster"` makes one from the
# environments' mean features.
