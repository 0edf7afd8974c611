"""Verbal explanation of the latents that a mask identifies, for ``scripts/identifiability.py``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sparseid.masks import Evidence, Mask, evidence, latent_names, observation_names, regions, why_too_few
from sparseid.methods.ddl.structure import indeterminacy, keeps_support

MOST_PAIRS = 20
"""Maximum number of latents for which all pairs are shown."""

PRESUPPOSED = """\
This presupposes that
  - x = g(z), with g smooth and injective (additive noise of a known kind is allowed), and z has a density that is
    positive everywhere;
  - the derivatives of every x are different enough in different places (Assumption 1: g is nonlinear enough);
  - the learned model fits the distribution of x, and its Jacobian has no more non-zero entries than that of g."""


def warnings_of(mask: Mask) -> Iterator[str]:
    """Yield the parts of the theory that do not hold for a mask, with reasons."""
    empty = np.flatnonzero(~mask.any(axis=1)).tolist()
    if empty:
        verb = "reads" if len(empty) == 1 else "read"
        yield f"{observation_names(empty)} {verb} no latent and carries no information: remove it"
    read = mask.any(axis=0)
    for reason in why_too_few(mask):
        yield f"{reason}. g cannot be injective, so no theorem holds and nothing is identified"
    if not read.all():
        unread = np.flatnonzero(~read).tolist()
        them = "it" if len(unread) == 1 else "them"
        yield (
            f"no observation reads {latent_names(unread)}: g is not injective in {them}, and nothing can be learned "
            f"about {them}. The rest holds for the other latents"
        )


def explain(mask: Mask) -> Iterator[str]:
    """Yield lines on the latents that a mask identifies, their blocks, and the reasons.

    Parameters
    ----------
    mask
        (m, n) bool: whether each observation reads each latent.

    Examples
    --------
    >>> next(explain(np.eye(2, dtype=bool)))
    'observations (lines): x1 to x2; latents (columns): z1 to z2; edges: 2 of 4'
    """
    outputs, latents = mask.shape
    sizes = f"observations (lines): x1 to x{outputs}; latents (columns): z1 to z{latents}"
    yield f"{sizes}; edges: {mask.sum()} of {mask.size}"
    yield ""
    table = [("latent", "identified", "why"), *_verdicts(mask)]
    widths = [max(len(row[place]) for row in table) for place in range(2)]
    for name, verdict, why in table:
        yield f"{name:<{widths[0]}}  {verdict:<{widths[1]}}  {why}"
    yield ""
    yield f"Blocks: {' | '.join(latent_names(block) for block in regions(mask)) or 'none'}"
    yield "  (latents read by the same observations: mixed at most with each other, not with latents of other blocks)"
    if any(_injective_part(mask)):
        yield ""
        yield from _summary(mask)
        yield ""
        yield from _pairs(mask)
        yield ""
        yield PRESUPPOSED


def _injective_part(mask: Mask) -> Mask:
    """Return (n,) bool: latents that the theorems apply to; none if g cannot be injective in those that are read."""
    read = np.asarray(mask.any(axis=0))
    if list(why_too_few(mask)):
        return np.zeros_like(read)
    return read


def _verdicts(mask: Mask) -> Iterator[tuple[str, str, str]]:
    """Yield name, verdict and reason of every latent."""
    found, usable = evidence(mask), _injective_part(mask)
    block_of = {latent: block for block in regions(mask) for latent in block}
    for latent, clauses in enumerate(found):
        name = latent_names([latent])
        if latent not in block_of:
            yield name, "no", "no observation reads it"
        elif not usable[latent]:
            yield name, "no", "no theorem holds without an injective g"
        elif clauses:
            condition = "" if clauses[0].clause == 3 else ", if latents are independent"
            yield name, "yes", f"the only latent that {_reason(clauses[0])} (clause {clauses[0].clause}{condition})"
        elif len(block_of[latent]) == 1:
            text = "no other latent is read by the same observations, though no clause of Sufficient Diversity says so"
            yield name, "yes", f"{text} (Theorem 1, if latents are independent)"
        else:
            others = [other for other in block_of[latent] if other != latent]
            yield name, "in its block", f"the same observations read {latent_names(others)}"


def _reason(one: Evidence) -> str:
    """Return the property unique to a latent, by the clause that separates it."""
    others = observation_names(one.others)
    read = f"{others} {('reads', 'both read', 'all read')[min(len(one.others), 3) - 1]}"
    if one.special is None:
        return read
    special = observation_names([one.special])
    if one.clause == 2:
        return f"{read} and {special} does not"
    rest = f"none of {others} does" if len(one.others) > 1 else f"{others} does not"
    return f"{special} reads and {rest}"


def _summary(mask: Mask) -> Iterator[str]:
    """Yield the verdicts on the whole mask."""
    found, latents = evidence(mask), mask.shape[1]
    diverse = sum(bool(clauses) for clauses in found)
    sparse = sum(bool(clauses) and clauses[0].clause == 3 for clauses in found)
    if diverse == latents:
        yield "Sufficient Diversity holds: each latent is identified up to order and a function of its own (Theorem 3)."
    else:
        yield f"Sufficient Diversity does not hold: {diverse} of {latents} latents meet one of its clauses."
    if sparse == latents:
        yield "Structural sparsity also holds (clause 3 for every latent): latents need not be independent."
    else:
        yield f"Structural sparsity does not hold: dependent latents leave {sparse} of {latents} identified (clause 3)."


def _pairs(mask: Mask) -> Iterator[str]:
    """Yield the table of true latents that may depend on learned ones, unless it is too large."""
    latents = mask.shape[1]
    if latents > MOST_PAIRS:
        return
    apart, mixes = indeterminacy(mask), keeps_support(mask)
    in_block = {latent for block in regions(mask) if len(block) > 1 for latent in block}
    yield "May a true latent (row) depend on a learned one (column)?"
    yield "".join(f"{name:>6}" for name in ["", *(latent_names([latent]) for latent in range(latents))])
    for row in range(latents):
        by_independence = "no?" if row in in_block else "no*"
        entries = [
            "yes" if not apart[row, column] else by_independence if mixes[row, column] else "no"
            for column in range(latents)
        ]
        yield "".join(f"{entry:>6}" for entry in [latent_names([row]), *entries])
    yield "  no    it would take another edge, whatever the latents' distribution"
    yield "  no*   if latents are independent (condition (ii) of Definition 5)"
    if _turnable(mask):
        yield "  no?   condition (ii) says so, but independence is not enough: a block of several (normal) latents can"
        yield "        be rotated by an angle that depends on the column's"
    yield "  yes   no condition excludes it"


def _turnable(mask: Mask) -> bool:
    """Return whether only condition (ii) separates a latent of a block of several from a latent outside it."""
    several = [latent for block in regions(mask) if len(block) > 1 for latent in block]
    return bool((indeterminacy(mask) & keeps_support(mask))[several].any())
