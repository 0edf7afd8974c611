"""Five papers about sparsity and identifiability: their methods, data sets, metrics and experiments.

The command line (``python run.py --help``) reproduces the papers. This is the same code as a library; everything named
here is imported when it is first used, so that ``import sparseid`` costs next to nothing.

Estimators with scikit-learn's conventions, for tables of one's own
    SparseVAE           factors of a matrix, each of which few features depend on
    DiverseDictionary   latents of observations that each depend on few of them
    TBR                 latents whose weights for a label change little along a tree of environments
    RegCL               embedding of a time series with labels, and the map of what each label depends on

Estimator of images or sounds of one's own
    Sparling            motifs and their places, learned from sequences of tokens

Layers
    SparseLayer         batch norm, then ReLU above a moving quantile (Sparling)
    MaskedDecoder       decodes each feature from its own selection of latents (Sparse VAE)
    TreeModel           one linear head per environment of a tree, sharing deltas along its arcs (TBR)
    StackedLinear, stacked_mlp
                        many small models of the same shape, trained as one

Losses and penalties
    info_nce            contrastive loss with negatives (RegCL)
    value_and_tangents, dependency_sparsity, normalised_dependency
                        a decoder's Jacobian in one forward pass, and its L1 norm (Diverse Dictionary Learning)
    orojar, hessian_penalty
                        orthogonal columns of the Jacobian; small mixed second derivatives
    slab_probability, slab_share, selector_penalty
                        spike-and-slab lasso: E step, M step and penalty (Sparse VAE)
    soft_threshold      proximal step of the L1 norm (TBR)
    sequence_cross_entropy
                        cross-entropy of label sequences that end early (Sparling)

Metrics, all functions of arrays
    mcc, matching, dci, linear_r2, block_r2
                        do learned latents equal, or determine, the true ones?
    structure_recovery, support_recovery, forbidden_entry
                        is the learned structure the true one?
    match_motifs, motif_errors, edit_distances
                        motif maps against true boxes, sequences against labels
    npmi, recall_at, ndcg_at, ate_errors
                        topics, rankings, treatment effects
    anova, tukey_hsd, bootstrap_interval
                        the statistics of the papers' tables

Attribution
    attribution_map     how much each latent of an encoder depends on each feature, by six methods (RegCL)
    attribution_auc     area under the ROC curve of such a map against the truth

Theory
    read_mask, sufficiently_diverse, explain
                        which latents a dependency structure identifies (Diverse Dictionary Learning)

Experiments
    compose             the checked configuration of a run: ``compose(["experiment=tbr/fig4", "scale=smoke"])``
    build_data, build_module
                        its LightningDataModule and its LightningModule
    load                the trained model of a finished run; its ``transform`` maps new samples to codes or motif maps
    load_run            a finished run: configuration, rows, arrays, and its trained module

Examples
--------
>>> import numpy as np, sparseid
>>> latents = np.random.default_rng(0).normal(size=(1000, 3))
>>> round(sparseid.mcc(latents, -2 * latents[:, ::-1]), 6)
1.0
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # the names stand in __init__.pyi
