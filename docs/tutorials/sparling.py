# %% [markdown]
# # Sparling: where in an image its symbols are, learned without a single box
#
# Images are labelled with the sequence of symbols in them, not with their places. Sparling puts a layer in between
# that may be active at very few places only, so that each activation must stand for a symbol. This tutorial draws
# images, learns from their sequences, and looks where the model believes the symbols to be. It takes a few minutes on
# two CPU cores.
#
# Paper: *Sparling: end-to-end spatial concept learning via extremely sparse activations*. Its figures are rebuilt by
# `python run.py experiment=digitcircle` and others: see [its page](../../src/sparseid/papers/sparling/README.md).

# %%
import matplotlib.pyplot as plt
import numpy as np

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
labels[:5]

# %%
train, test = slice(3500), slice(3500, None)
model = sparseid.Sparling(random_state=0).fit(images[train], labels[train])
errors = 1 - model.score(images[test], labels[test])
print(f"edits per token on new images: {errors:.1%}")
model.baselines_

# %% [markdown]
# `motifs` lists what the sparse layer says: a token for each activation, its place and its strength. The place is the
# centre of a window of 21 pixels: a symbol may lie anywhere in it, but for each kind it is always the same spot, since
# no label says which.

# %%
motifs = model.motifs(images[test])
motifs.head()

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
right = total = 0
for number, true in enumerate(places[test]):
    mine = motifs[motifs["item"] == number]
    for token, x, y in true:
        near = (mine["token"] == token) & (mine["x"] - x).abs().le(3) & (mine["y"] - y).abs().le(3)
        right, total = right + near.any(), total + 1
print(f"{right} of {total} symbols, {len(motifs)} activations")

# %%
model.save("symbols")
again = sparseid.Sparling.load("symbols")
print(again.motifs(images[test]).equals(motifs))

# %% [markdown]
# **Before you trust it.** The last density that the training reached, and the errors at each density, are in the
# run's figures: `sparseid.Sparling(outputs="outputs")` keeps them, and `python run.py experiment=sparling/arrays
# data.path=folder` makes the same from files.
