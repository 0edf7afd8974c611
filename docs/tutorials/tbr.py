# %% [markdown]
# # TBR: where along a tree an effect changes
#
# The same measurements may mean different things in different tissues, species or hospitals. Tree-based
# regularisation learns latents whose weights for a label *change rarely along a tree* of these environments, to show on
# which branch an effect appears. This tutorial makes data in which that is known. It takes five minutes of one core.
#
# Paper: tree-based regularisation for identifiable latents. Its figures are rebuilt by `python run.py
# experiment=tbr/fig3` and others: see [its page](../../src/sparseid/papers/tbr/README.md).

# %%
from pathlib import Path

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
# Training minimises the error plus a penalty: `method.penalty_weight` times the size of the changes of the weights
# along the tree, for latents of standard deviation 1. It may end in a minimum that is not the lowest, so we train three
# seeds and take the one with the smallest sum, on rows that training did not see. That needs no knowledge of the truth.

# %%
models = [
    sparseid.TBR(latents=2, tree=tree, max_samples=160_000, patience=0, random_state=seed).fit(genes, response, tissue)
    for seed in range(3)
]
changes = [model.deltas_ * model.transform(genes).std() for model in models]
seeds = pd.DataFrame({"error": [model.rows_["value"][0] for model in models]})
seeds["size of changes"] = [change.abs().to_numpy().sum() for change in changes]
seeds["sum"] = seeds["error"] + models[0].model_.run.config.method.penalty_weight * seeds["size of changes"]
print(seeds.rename_axis("seed").round(4))
best = int(seeds["sum"].idxmin())
model = models[best]
print(f"seed {best}:")
print(model.rows_)

# %% [markdown]
# The error is that of rows which training did not see. The response was scaled to a variance of 1, so its squared unit
# is its variance. As the warnings say, a ridge regression of each tissue, with its own weights for all genes, has a
# lower error (0.0192; seed 0: 0.0198). What it does not say is *where* along the tree something changes. Arcs are named
# after their lower end:

# %%
figure, axes = plt.subplots(1, 3, figsize=(10, 3), sharey=True, layout="constrained")
for seed, (ax, change) in enumerate(zip(axes, changes, strict=True)):
    change.plot.bar(ax=ax, color=["tab:blue", "tab:orange"])
    ax.set(title=f"seed {seed}", ylabel="change of the weight", xlabel="arc of the tree")
plt.show()
print(changes[best].round(2))

# %% [markdown]
# All three seeds leave the weights alone on the arcs of cortex and cerebellum, where nothing changes, and have large
# changes at the heart and the lung, where something does. At the brain, the vessels, the artery and the surfaces they
# disagree: there, no single seed is to be trusted.
#
# Are the learned latents the true ones, up to sign and scale?

# %%
found = model.transform(genes)
correlations = [
    pd.DataFrame(np.corrcoef(latents.T, fitted.transform(genes).T)[:2, 2:].round(2), effects.columns, ["tbr0", "tbr1"])
    for fitted in models
]
print(pd.concat(correlations, keys=[f"seed {seed}" for seed in range(3)]))

# %% [markdown]
# Those of seed 1 are; those of the other two are mixtures, also of seed 0, which has the smallest sum. Seed 1 has the
# smallest changes, but the highest error, and only the truth tells that it is the one to take. So the latents are not
# found reliably here, and that the seeds disagree is the sign of it. A penalty ten times as large does not help:
# `settings={"method.penalty_weight": 0.01}` leaves the same two seeds mixed.

# %% [markdown]
# A response is predicted from genes and tissue.

# %%
predicted = model.predict(genes[:3], tissue[:3])
print(pd.DataFrame({"predicted": predicted, "true": response[:3]}, index=tissue[:3]).round(2))

# %%
Path("tutorial").mkdir(exist_ok=True)
genes.assign(tissue=tissue, response=response).to_csv("tutorial/tissues.csv", index=False)
Path("tutorial/tree.nwk").write_text(tree)
model.save("tutorial/tissues")
again = sparseid.TBR.load("tutorial/tissues")
print(np.array_equal(again.transform(genes), found))

# %% [markdown]
# **Before you trust it.** Train several seeds, and compare their changes. This is the fit of all three seeds from a
# shell, in the folder that has `tutorial/`:
#
# ```
# python -m sparseid experiment=tbr/arrays data.path=tutorial/tissues.csv data.tree=tutorial/tree.nwk \
#     data.environment=tissue data.label=response method.latents=2 trainer.max_samples=160000 \
#     trainer.early_stop.patience=0 "seeds=[]" seed=0,1,2
# ```
#
# Without a tree, `tree="cluster"` makes one from the environments' mean features.
