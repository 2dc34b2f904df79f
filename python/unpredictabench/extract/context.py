"""What leads to a value in prose: words that mark it as the answer, or that say it is not."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

WINDOW = 160
"""Characters looked at before a value: about two lines of prose, and a bound on the work."""
_LINE = 2048  # a longer line is no item of an enumeration
OPENERS = " \t\"'`*_$(\\[{<~≈≃€£¥"
CLOSERS = " \t\"'`*_$)\\]}>"


class Mark(IntEnum):
    """How strongly a text marks a value as its answer."""

    NONE = 0
    WEAK = 1
    SAID = 2
    FINAL = 3


_FILLERS = frozenset(
    "approximately approx approx. about around roughly exactly indeed just simply actually now "  # noqa: SIM905 - words read better in a row
    "likely probably only a an the of:".split()
)
_NOUNS = frozenset("number value integer result figure float decimal".split())  # noqa: SIM905 - words read better in a row
_VERBS = frozenset(
    "is are was were be equals gives gave give returns return prints print outputs output yields "  # noqa: SIM905 - words read better in a row
    "produces generated generate pick picked choose chose chosen select selected got get draw "
    "drew say guess reads shows displays becomes with".split()
)
_SIGNS = (":", "=", "->", "=>", "→", "⇒", "equal to", "answer of", "result of", "i go for")
_SUBJECT = re.compile(
    r"\b(?:answer|number|value|results?|outputs?|outcome|samples?|integer|draw|observation|variate"
    r"|response|choice|pick|guess|solution|prints?|returns?|generated|it|i|here)\b|->|=>|→|⇒"
)
_ABOUT_ELSE = re.compile(
    r"\b(?:probability|probabilities|chances?|likelihood|odds|percent(?:age)?|mean|average|median"
    r"|rate|lambda|λ|variance|deviation|sigma|mu|parameters?|interval|example|instance|suppose"
    r"|assume|imagine|(?:let's|let us) say|if|when|like|such as|not|never|cannot|less|greater|fewer"
    r"|larger|smaller|more|most|least|up to|seed|hint|step|sum of|expected value"
    r"|(?:the|these) following|(?:first|second|third|next|last) \w+|pr?(?= *=))\b|n't\b|\be\.g"
)
_PARAMETER = re.compile(
    r"(?:\b(?:mean|average|rate|lambda|λ|sigma|mu|std|scale|shape|(?:standard )?deviation|variance"
    r"|parameters?|probability|size)\b[ (]*+|\b[npk] ?(?==))++(?:of|is|=|:)? ?[+-]?\d[\d.]*+"
    r"|[(\[] ?[+-]?[\d.]++ ?, ?[+-]?[\d.]++ ?[)\]]|\([^()\n]*+\)"
    r"|\b(?:between|from|range|to|in) ?(?:of )?[+-]?\d[\d.]*+ ?(?:and|to|-|through) ?[+-]?\d[\d.]*+"
)
_FINAL = re.compile(r"\bfinal\s+(?:answer|number|value|result|output)\b|\W*answer\W*\Z")
_EQUATION = re.compile(r"\W*[a-z][a-z_]{0,15}(?:_?\{?\w{0,8}\}?)?\W*=")
_ITEM = re.compile(r"\s*\d{1,3}[.)]\s+[^\W\d]")
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")
_FENCE_END = re.compile(r"```[\w+#-]*\Z")
_DIGIT = re.compile(r"\d")
# Words decide, not which digits stand among them, so that equal words are judged only once.
ANY_DIGIT = {ord(digit): "0" for digit in "123456789"}


def mark_before(text: str, start: int) -> Mark:
    """Tell how strongly the words before a value mark it as the answer.

    Parameters
    ----------
    text : str
        A text with plain characters.
    start : int
        Where the value begins.

    Returns
    -------
    Mark
        FINAL after "final answer" or a line that begins with "Answer"; SAID after an assertion
        about the answer ("the output is", "I pick"); WEAK after any other assertion; NONE where
        nothing is asserted, or where the sentence is about something else (a probability, a
        parameter, an example, a condition).
    """
    first = max(0, start - WINDOW)
    before = text[first:start].translate(ANY_DIGIT)
    return _marked(before, is_whole=first == 0, is_item=_is_item(text, start))


def _is_item(text: str, start: int) -> bool:
    """Tell whether the line of a value begins with the counter of an item."""
    first = max(0, start - _LINE)
    line = text.rfind("\n", first, start) + 1
    if not line and first:
        return False
    return _ITEM.match(text, line, min(start, line + WINDOW)) is not None


@lru_cache(maxsize=4096)
def _marked(before: str, *, is_whole: bool, is_item: bool) -> Mark:
    before = before.lower().rstrip(OPENERS + "\n")
    if not before:
        return Mark.NONE
    if "```" in before[-12:]:
        before = _FENCE_END.sub("", before).rstrip(OPENERS + "\n")
    before, has_noun = _without_fillers(before)
    if not before:
        return Mark.WEAK if is_whole else Mark.NONE
    word = before[max(before.rfind(" "), before.rfind("\n")) + 1 :]
    if word not in _VERBS and not before.endswith(_SIGNS) and not has_noun and word != "answer":
        return Mark.NONE
    return _judged(before, word, is_item=is_item)


def _without_fillers(before: str) -> tuple[str, bool]:
    has_noun = False
    while True:
        word = before[max(before.rfind(" "), before.rfind("\n")) + 1 :]
        if word in _NOUNS:
            if has_noun:
                return before, True
            has_noun = True
        elif word not in _FILLERS or not word:
            return before, has_noun
        before = before[: len(before) - len(word)].rstrip(OPENERS)


def _judged(before: str, word: str, *, is_item: bool) -> Mark:
    cut = 0
    for end in _SENTENCE_END.finditer(before):
        cut = end.end()
    sentence = _PARAMETER.sub(" ", before[max(cut, before.rfind(" but ", cut) + 1) :])
    if "example" in before[max(0, cut - 40) : cut] or _ABOUT_ELSE.search(sentence):
        return Mark.NONE
    if _FINAL.match(sentence) or ("final" in sentence and _FINAL.search(sentence)):
        return Mark.FINAL
    if _EQUATION.fullmatch(sentence):
        return Mark.NONE if is_item else Mark.WEAK
    clause = sentence[max(sentence.rfind(","), sentence.rfind(";")) + 1 :]
    if is_item or _DIGIT.search(clause):
        return Mark.NONE
    is_assertion = word in _VERBS or word == "answer" or before.endswith(_SIGNS)
    return Mark.SAID if is_assertion and _SUBJECT.search(sentence) else Mark.WEAK
