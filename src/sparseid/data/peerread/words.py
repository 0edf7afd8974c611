"""Words of a text as the Sparse VAE's code has them: NLTK's tokens that are letters only, noun lemmas, no stop words.

No text or model is loaded from elsewhere: the rules are written out here, and the nouns are those of WordNet in the
project's samples. Abbreviations are the one thing that NLTK learns from a corpus, and here they are a short list.
"""

from __future__ import annotations

import gzip
import re
from functools import cache, lru_cache

from sparseid.data.paths import samples_folder

NOUNS = "wordnet_nouns.txt.gz"

SUFFIXES = {"s": "", "ses": "s", "ves": "f", "xes": "x", "zes": "z"}
SUFFIXES |= {"ches": "ch", "shes": "sh", "men": "man", "ies": "y"}
"""Of regular plurals, and what stands in their place in the singular."""

_FUNCTION_WORDS = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom this that these those am is are was were be been being have
has had having do does did doing a an the and but if or because as until while of at by for with about against between
into through during before after above below to from up down in out on off over under again further then once here there
when where why how all any both each few more most other some such no nor not only own same so than too very s t can
will just don should now d ll m o re ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn shan
shouldn wasn weren won wouldn
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
"""English function words: those of NLTK's list that are letters only."""

_ABBREVIATED = "al approx cf ch dr eq eqn eqs etc fig figs i.e e.g mr mrs ms no prof resp sec sect st viz vs w.r.t"
ABBREVIATIONS = frozenset(_ABBREVIATED.split())
"""Behind these a full stop ends no sentence and stays part of the token, which is then no word."""

_APART = re.compile(r"[;@#$%&?!\[\](){}<>\"“”„«»‘’`…]|--+|\.\.\.+|''|[:,](?=\D|$)")
"""What stands between tokens wherever it occurs; colons and commas only where no digit follows."""
_CONTRACTION = re.compile(r"(?<=[^'])(n't|'s|'m|'d|'ll|'re|'ve|')$")
_TWO_WORDS = ("can not", "d' ye", "gim me", "gon na", "got ta", "lem me", "wan na")
_JOINED = {words.replace(" ", ""): words.split() for words in _TWO_WORDS}


def words_of(text: str) -> list[str]:
    """Return the words of a text, in order: noun lemmas of its tokens, stop words left out.

    Stop words are matched behind the lemmas, as in the authors' code, so that "has" becomes "ha" and stays.

    Examples
    --------
    >>> words_of("It has 2 state-of-the-art networks (e.g. GANs), whose classes aren't known.")
    ['ha', 'network', 'gans', 'whose', 'class', 'known']
    """
    return [word for word in map(lemma, tokens(text)) if word not in STOP_WORDS]


def tokens(text: str) -> list[str]:
    """Return the tokens of a text that are letters only, in lower case.

    Examples
    --------
    >>> tokens("Don't: a cannot-do 3D model's loss, cf. Sec. 2.1.")
    ['do', 'a', 'model', 'loss']
    """
    found: list[str] = []
    for chunk in _APART.sub(" ", text.lower()).split():
        token = _CONTRACTION.sub("", chunk if _abbreviated(chunk) else chunk.removesuffix("."))
        found.extend(part for part in _JOINED.get(token, [token]) if part.isalpha())
    return found


def _abbreviated(chunk: str) -> bool:
    return chunk.removesuffix(".") in ABBREVIATIONS


@lru_cache(maxsize=2**16)
def lemma(word: str) -> str:
    """Return the singular of a noun, the shortest where there are several; other words as they are.

    Examples
    --------
    >>> [lemma(word) for word in ("policies", "indices", "classes", "women", "bus", "was", "learning", "xyzs")]
    ['policy', 'index', 'class', 'woman', 'bus', 'wa', 'learning', 'xyzs']
    """
    nouns, plurals = _nouns()
    if word in plurals:
        found = [form for form in (word, *plurals[word]) if form in nouns]
    else:
        forms = _singulars([word])
        found = [form for form in (word, *forms) if form in nouns]
        while forms and not found:
            forms = _singulars(forms)
            found = [form for form in forms if form in nouns]
    return min(found, key=len, default=word)


def _singulars(forms: list[str]) -> list[str]:
    return [form.removesuffix(old) + new for form in forms for old, new in SUFFIXES.items() if form.endswith(old)]


@cache
def _nouns() -> tuple[frozenset[str], dict[str, list[str]]]:
    """Return WordNet's nouns of one word, and its irregular plurals with what they are plurals of."""
    nouns, plurals = set(), {}
    for line in gzip.decompress((samples_folder() / NOUNS).read_bytes()).decode().splitlines():
        word, *bases = line.split()
        if bases:
            plurals[word] = bases
        else:
            nouns.add(word)
    return frozenset(nouns), plurals
