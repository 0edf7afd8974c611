# %% [markdown]
# # RegCL: which neurons depend on a variable, and which only correlate with it
#
# A recording has hundreds of channels and a behaviour that was measured beside them. RegCL embeds the recording by
# contrasts in time and by label, keeps the encoder's derivatives small, and inverts them: the *attribution map* says
# which channels depend on the label. This tutorial makes a recording in which that is known. It takes half a minute of
# one CPU core.
#
# Paper: attribution maps by regularised contrastive learning. Its tables are rebuilt by `python run.py
# experiment=regcl/table1` and others: see [its page](../../src/sparseid/papers/regcl/README.md).

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score

import sparseid

# %% [markdown]
# An animal's position in a box (two coordinates, the label) and two hidden variables walk about. Neurons 1 to 20
# depend on the position and on the hidden variables, neurons 21 to 40 on the hidden variables alone.


# %%
def walk(steps, size, rng, spread=0.1):
    """Return a walk in the box from -1 to 1; steps that would leave it are drawn again."""
    places = np.zeros((steps, size))
    for number in range(1, steps):
        place = places[number - 1] + spread * rng.normal(size=size)
        while (outside := np.abs(place) > 1).any():
            place[outside] = places[number - 1, outside] + spread * rng.normal(size=outside.sum())
        places[number] = place
    return places


rng = np.random.default_rng(0)
position, hidden = walk(10_000, 2, rng), walk(10_000, 2, rng)
both = np.hstack([position, hidden]) @ rng.normal(size=(4, 20))
alone = hidden @ rng.normal(size=(2, 20))
rates = np.hstack([both, alone])
neurons = pd.DataFrame(np.where(rates > 0, rates, 0.2 * rates), columns=[f"neuron {number}" for number in range(1, 41)])
labels = pd.DataFrame(position, columns=["x", "y"])

# %%
model = sparseid.RegCL(latents=4, standardise=True, random_state=0).fit(neurons, labels)
held_out = slice(9000, None)
linear = LinearRegression().fit(neurons[:9000], position[:9000])
print(f"R2 of the position on the held-out end: RegCL {model.score(neurons[held_out], labels[held_out]):.3f}, ", end="")
print(f"linear regression {linear.score(neurons[held_out], position[held_out]):.3f}")

# %% [markdown]
# Both predict the position. The warning says that a ridge regression predicts it as well or better; RegCL is not there
# to win at that, but for its map, which is only worth reading if the position was learned. So which neurons do they
# point to? The map of RegCL beside the weights of the regression:

# %%
maps = {"RegCL": model.attribution_.to_numpy(), "linear regression": linear.coef_ * neurons.std().to_numpy()}
figure, axes = plt.subplots(2, 1, figsize=(8, 3), sharex=True, layout="constrained")
depends = np.repeat([1, 0], 20)
mean_aucs = {}
for ax, (title, values) in zip(axes, maps.items(), strict=True):
    strength = np.abs(values)
    mean_aucs[title] = np.mean([roc_auc_score(depends, row) for row in strength])
    ax.imshow(strength / strength.max(axis=1, keepdims=True), aspect="auto", cmap="Greys", vmin=0)
    ax.axvline(19.5, color="tab:red")
    ax.set(title=f"{title}: AUC {mean_aucs[title]:.2f}", yticks=[0, 1], yticklabels=["x", "y"])
axes[1].set_xlabel("neuron; those left of the line depend on the position")
plt.show()
print(", ".join(f"AUC of {title} {auc:.2f}" for title, auc in mean_aucs.items()))

# %% [markdown]
# The area under the curve (AUC) is the probability that a neuron which depends on the position has more weight than
# one which does not. The regression gives weight to neurons 21 to 40, because they help to subtract the hidden
# variables from the others.

# %%
found = model.transform(neurons)
Path("tutorial").mkdir(exist_ok=True)
neurons.join(labels).to_csv("tutorial/animal.csv", index=False)
model.save("tutorial/animal")
again = sparseid.RegCL.load("tutorial/animal")
print(np.array_equal(again.transform(neurons), found))

# %% [markdown]
# **Before you trust it.** One run is one seed. This is the same fit from a shell, in the folder that has `tutorial/`:
#
# ```
# python -m sparseid experiment=regcl/arrays data.path=tutorial/animal.csv "data.labels=[x,y]" data.latents=4 \
#     data.standardise=true "seeds=[]"
# ```
#
# Its figure `maps.png` has the maps of every method of attribution. Without `"seeds=[]"` it trains three seeds. What
# the paper's headline needs is in the [study](../../scripts/study/STUDY.md).
