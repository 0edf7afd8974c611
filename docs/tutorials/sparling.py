# %% [markdown]
# # Sparling: where in an image its symbols are, learned without a single box
#
# Images are labelled with the sequence of symbols in them, not with their places. Sparling puts a layer in between
# that may be active at very few places only, so that each activation must stand for a symbol. This tutorial draws
# images, learns from their sequences, and looks where the model believes the symbols to be. It takes seven minutes of
# one CPU core.
#
# Paper: *Sparling: end-to-end spatial concept learning via extremely sparse activations*. Its figures are rebuilt by
# `python run.py experiment=digitcircle` and others: see [its page](../../src/sparseid/papers/sparling/README.md).

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import sparseid

# %% [markdown]
# Each image has one to three symbols from left to right, each at any height, on a noisy ground.

# %%
shapes = {
    "cross": np.eye(5) + np.eye(5)[::-1] > 0,
    "bar": np.eye(5)[[2] * 5] > 0,
    "box": np.pad(np.zeros((3, 3)), 1, constant_values=1) > 0,
}
rng = np.random.default_rng(0)
images, labels, places = np.zeros((4000, 16, 24)), [], []
for image in images:
    image[:] = rng.random((16, 24)) < 0.02
    tokens = rng.choice(list(shapes), rng.integers(1, 4)).tolist()
    rows = rng.integers(12, size=3)
    for column, row, token in zip((1, 9, 17), rows, tokens, strict=False):
        image[row : row + 5, column : column + 5] = np.maximum(image[row : row + 5, column : column + 5], shapes[token])
    labels.append(" ".join(tokens))
    places.append([(token, column + 2, row + 2) for column, row, token in zip((1, 9, 17), rows, tokens, strict=False)])
print(labels[:5])

# %%
train, test = slice(3500), slice(3500, None)
model = sparseid.Sparling(random_state=0).fit(images[train], labels[train])
errors = 1 - model.score(images[test], labels[test])
most_frequent = model.baselines_["e2ee"]["most_frequent"] / 100
print(f"edits per token on new images: {errors:.1%}, with the most frequent label for all: {most_frequent:.1%}")

# %% [markdown]
# `motifs` lists what the sparse layer says: a token for each activation, its place and its strength. The place is the
# centre of a window of 21 pixels. A symbol may lie anywhere in it, since no label says where.

# %%
motifs = model.motifs(images[test])
print(motifs.head())

# %%
figure, axes = plt.subplots(2, 4, figsize=(9, 3.4), layout="constrained")
colours = dict(zip(shapes, ("tab:red", "tab:blue", "tab:orange"), strict=True))
for number, ax in enumerate(axes.flat):
    ax.imshow(images[test][number], cmap="Greys")
    ax.set_axis_off()
    for motif in motifs[motifs["item"] == number].itertuples():
        ax.plot(
            motif.x,
            motif.y,
            "o",
            markersize=16,
            markerfacecolor="none",
            markeredgewidth=2,
            color=colours.get(motif.token, "grey"),
        )
figure.legend(
    handles=[
        plt.Line2D([], [], marker="o", linestyle="", markerfacecolor="none", color=colour, label=token)
        for token, colour in colours.items()
    ],
    loc="outside right upper",
)
plt.show()

# %% [markdown]
# No place was ever shown to the model. How many symbols does it find within three pixels, under their right name?

# %%
offsets, total = [], 0
for number, true in enumerate(places[test]):
    mine = motifs[motifs["item"] == number]
    for token, x, y in true:
        near = (mine["token"] == token) & (mine["x"] - x).abs().le(3) & (mine["y"] - y).abs().le(3)
        total += 1
        for motif in mine[near].head(1).itertuples():
            offsets.append((token, "odd" if y % 2 else "even", motif.x - x, motif.y - y))
right = len(offsets)
print(f"{right} of {total} symbols, {len(motifs)} activations")

# %% [markdown]
# Where on a symbol does its activation lie? The map has a cell for every second pixel, so the table distinguishes
# symbols with their centre in an even row from those in an odd row; the columns of all centres are odd.

# %%
spots = pd.DataFrame(offsets, columns=["symbol", "row", "pixels right", "pixels down"])
print(spots.value_counts().sort_index().to_string())

# %% [markdown]
# Among rows of one kind, each symbol has one spot. A bar's is left of its lower end in both. A box has its upper right
# in even rows and its lower left in odd ones, a cross a spot above its centre or one to the right of it. So a place is
# right to within a few pixels, and is not the symbol's centre.

# %%
Path("tutorial").mkdir(exist_ok=True)
np.savez("tutorial/symbols.npz", images=images[train], labels=labels[train])
model.save("tutorial/symbols")
again = sparseid.Sparling.load("tutorial/symbols")
print(again.motifs(images[test]).equals(motifs))

# %% [markdown]
# **Before you trust it.** This is the same fit from a shell, in the folder that has `tutorial/`:
#
# ```
# python -m sparseid experiment=sparling/arrays data.path=tutorial/symbols.npz
# ```
#
# The figures of that run show the errors at each density that the training reached, and activations on held-out images.
# From Python, `sparseid.Sparling(outputs="outputs")` keeps them. `seed=1` is another seed, `random_state=1` here: an
# activation may then lie elsewhere on its symbol.
