"""Words of a text as in the Sparse VAE's code: NLTK's tokens of only letters, noun lemmas, no stop words.

No text or model is downloaded: the rules are implemented here, and the nouns are those of WordNet in the project's
samples. NLTK learns abbreviations, and nothing else, from a corpus; here they are a short list.
"""

from __future__ import annotations

import gzip
import re
from functools import cache, lru_cache

from sparseid.data.paths import samples_folder

NOUNS = "wordnet_nouns.txt.gz"

SUFFIXES = {"s": "", "ses": "s", "ves": "f", "xes": "x", "zes": "z"}
SUFFIXES |= {"ches": "ch", "shes": "sh", "men": "man", "ies": "y"}
"""Endings of regular plurals, and those of the singular."""

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
"""English function words: those of NLTK's list that have only letters."""

_ABBREVIATED = "al approx cf ch dr eq eqn eqs etc fig figs i.e e.g mr mrs ms no prof resp sec sect st viz vs w.r.t"
ABBREVIATIONS = frozenset(_ABBREVIATED.split())
"""After these a full stop does not end a sentence but belongs to the token, which is then not a word."""

_APART = re.compile(r"[;@#$%&?!\[\](){}<>\"“”„«»‘’`…]|--+|\.\.\.+|''|[:,](?=\D|$)")
"""Separators of tokens; colons and commas only if no digit follows."""
_CONTRACTION = re.compile(r"(?<=[^'])(n't|'s|'m|'d|'ll|'re|'ve|')$")
_TWO_WORDS = ("can not", "d' ye", "gim me", "gon na", "got ta", "lem me", "wan na")
_JOINED = {words.replace(" ", ""): words.split() for words in _TWO_WORDS}


def words_of(text: str) -> list[str]:
    """Return the words of a text, in order: noun lemmas of its tokens, without stop words.

    Stop words are matched after lemmatisation, as in the authors' code, so that "has" becomes "ha" and stays.

    Examples
    --------
    >>> words_of("It has 2 state-of-the-art networks (e.g. GANs), whose classes aren't known.")
    ['ha', 'network', 'gans', 'whose', 'class', 'known']
    """
    return [word for word in map(lemma, tokens(text)) if word not in STOP_WORDS]


def tokens(text: str) -> list[str]:
    """Return the tokens of a text that have only letters, in lower case.

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
    """Return the singular of a noun, the shortest if there are several; other words are unchanged.

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
    """Return WordNet's nouns of one word, and its irregular plurals with their singulars."""
    nouns, plurals = set(), {}
    for line in gzip.decompress((samples_folder() / NOUNS).read_bytes()).decode().splitlines():
        word, *bases = line.split()
        if bases:
            plurals[word] = bases
        else:
            nouns.add(word)
    return frozenset(nouns), plurals
