"""Attribution maps: the dependence of each latent of an encoder on each observed feature (RegCL, appendix B.1)."""

from sparseid.metrics.attribution.maps import attribution_map, attributions
from sparseid.metrics.attribution.score import attribution_auc, map_statistics, minimum_norm_auc

__all__ = ["attribution_auc", "attribution_map", "attributions", "map_statistics", "minimum_norm_auc"]
