"""Right readings of single answers: public bug reports (by their id) and the rules in the docs."""

from __future__ import annotations

import pytest

from unpredictabench.extract import (
    extract_choice,
    extract_lines,
    extract_number,
    extract_permutation,
)


def number(text, **how):
    """Return the number read leniently, or None."""
    return extract_number(text, **how).value


@pytest.mark.parametrize("text", ["", "0.12", "1234"])
@pytest.mark.parametrize("mode", ["strict", "lenient"])
def test_cli_truncated_number(text, mode):
    """What the length limit may have cut is truncated and never a value (cli-truncated-number)."""
    found = extract_number(text, finish_reason="length", mode=mode)
    assert (found.status, found.value) == ("truncated", None)


def test_ext_unicode_minus():
    """Every dash before a number is a minus (ext-unicode-minus)."""
    assert [number(text) for text in ("−5", "–5", "—5.5", "-5")] == [-5, -5, -5.5, -5]


def test_ext_json_true():
    """JSON true is no number (ext-json-true)."""
    assert number('{"rationale": "x", "number": true}') is None
    assert number('{"rationale": "of 5", "number": true}') is None


def test_ext_out_of():
    """A ratio is no number, and never its second part (ext-out-of)."""
    assert number("I rate this an 8 out of 10.") is None
    assert number("8/10") is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("[1.0, 2, 3]", (0, 1, 2)),
        ('["1","2","3"]', (0, 1, 2)),
        ("[1,2,2]", "an item is repeated"),
        ("[1,2]", "an item is missing"),
        ("[true,2,3]", "an element is no item"),
        ("[1,2,null]", "an element is no item"),
    ],
)
def test_ext_list_element_identity(answer, expected):
    """1.0, 1 and "1" are one item; true and null are none (ext-list-element-identity)."""
    found = extract_permutation(answer, ("1", "2", "3"))
    assert expected == (found.value if found.is_valid else found.reason)


@pytest.mark.parametrize(
    ("answer", "items"),
    [
        ("['a','b']", ("a", "b")),
        ('["it\'s", "b"]', ("it's", "b")),
        ("['it\\'s', 'b']", ("it's", "b")),
        ("[“a”, “b”]", ("a", "b")),
        ('["A", "B", "C",]', ("A", "B", "C")),
    ],
)
def test_ext_list_single_quotes(answer, items):
    """Apostrophes survive, and every sort of quotes is a quote (ext-list-single-quotes)."""
    assert extract_permutation(answer, items).value == tuple(range(len(items)))


def test_ext_approx_and_error():
    """Signs of approximation, tolerances and glosses are passed over (ext-approx-and-error)."""
    texts = ("≈ 3.2", "~3.2", "4.2 ± 0.3", "42 (forty-two)")
    assert [number(text) for text in texts] == [3.2, 3.2, 4.2, 42]


def test_ext_percent():
    """A percentage is never a value, for it has two readings (ext-percent)."""
    assert [number(text) for text in ("50%", "0.5%", "50 percent")] == [None, None, None]
    assert number("Confidence 100%. Answer: 0.1") == 0.1


def test_ext_signs_and_dots():
    """Signs and bare points are read, and no part of a version (ext-signs-and-dots)."""
    texts = ("+3", ".5", "5.", "007", "1e-5", "3.14.15", "0x1F")
    assert [number(text) for text in texts] == [3, 0.5, 5, 7, 1e-5, None, None]


def test_ext_words():
    """Numbers in words are read whole (ext-words)."""
    texts = ("seven", "twenty-three", "minus four", "eight thousand, three hundred sixty")
    assert [number(text) for text in texts] == [7, 23, -4, 8360]


def test_ext_double_boxed():
    """Boxes that agree are one value, and a box outweighs prose (ext-double-boxed)."""
    assert number("So \\boxed{840}., final: \\boxed{840}") == 840
    assert number("the sum is 2,552,004 ... \\boxed{004}") == 4
    assert extract_number("\\boxed{3} or \\boxed{4}").status == "several"


def test_ext_joined_digits():
    """Digits of different numbers are never joined (ext-joined-digits)."""
    texts = ("Between 0 and 100, I pick 37.", "3.7 - done", "1.5e-7")
    assert [number(text) for text in texts] == [37, 3.7, 1.5e-7]


def test_ext_thousands():
    """Groups of three digits are one number (ext-thousands)."""
    texts = ("\\boxed{8,000}", "\\boxed{$9{,}500}", "1,234,567.5", "10 000", "1\u202f234")
    assert [number(text) for text in texts] == [8000, 9500, 1234567.5, 10000, 1234]


def test_ext_latex_scientific():
    """Powers of ten are read whole in every notation (ext-latex-scientific)."""
    texts = ("1.2×10^{-3}", "$1.2 \\times 10^{-3}$", "1.2 * 10^-3", "1.2e-3", "1.2E−3", "1.2×10⁻³")
    assert [number(text) for text in texts] == [0.0012] * 6


def test_ext_trailing_period():
    """The full stop of a sentence is no part of the number (ext-trailing-period)."""
    texts = ("7.", "Random number: 487.", "It is 3.14.")
    assert [number(text) for text in texts] == [7, 487, 3.14]


def test_ext_two_numbers_space():
    """Two numbers are never joined over a blank (ext-two-numbers-space)."""
    assert extract_number("answer is 3 5").status == "several"
    assert number("3a5") is None


def test_ext_citation_bracket():
    """Citations and indices are no answers (ext-citation-bracket)."""
    assert number("According to [1], the value is 5.2") == 5.2
    assert number("x_{1} = 3.7") == 3.7


def test_ext_list_is_not_thousands():
    """A list of numbers is several, and never one (ext-list-is-not-thousands)."""
    assert extract_number("1,2,3").status == "several"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{7}", 7),
        ("[7]", 7),
        ("<answer>7</answer>", 7),
        ('{"number": 7}', 7),
        ('{"rationale": "of 5", "number": "7.5"}', 7.5),
        ("{'number': 7}", 7),
        ('```json\n{"answer": 7.5}\n```', 7.5),
        ("“42”", 42),
        ("٣", 3),
        ("The final answer is **7**.", 7),
        ("The answer is seven.", 7),
        ("I think it is about 5.\n\nAnswer: 6", 6),
        ("3+4=7, so the mean is 7.\nAnswer: 4", 4),
        ("A random sample from a Poisson distribution with lambda = 18 is 21.", 21),
        ("Here is a random number between 0 and 10: 7.35", 7.35),
        ("14 customers arrived.", 14),
        ("x = 3.7", 3.7),
        ("I can't be random, but here's one: 7.32", 7.32),
        ("The result is approximately 3.14 ± 0.05.", 3.14),
        ("Sure! Here is a sample from N(0, 1): -0.42", -0.42),
        ("Exactly 4 customers arrived.", 4),
        ("١٢٫٥", 12.5),
        ("18.333...", 18.333),
        ("```\nrandom.uniform(0.0, 1.0) -> 4.27\n```", 4.27),
    ],
)
def test_one_number_is_read_in_any_wrapping(text, value):
    """One unambiguous number is read, and only leniently, whatever stands around it."""
    found = extract_number(text)
    assert found.value == value
    assert extract_number(text, mode="strict").status == "off-form"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("The mean is 5.", "off-form"),
        ("it follows a Poisson with rate lambda = 18", "off-form"),
        ("For example:\nAnswer: 0.221", "off-form"),
        ("Let's say the answer is 4.27.", "off-form"),
        ("1. No, I'll just give you the number 1.", "off-form"),
        ("5-10", "off-form"),
        ("P(X=3) = 0.22", "off-form"),
        ("The output is 5 lines long.", "off-form"),
        ("1 e5", "off-form"),
        ("6 × 7 = 42", "off-form"),
        ("- 7.5", "off-form"),
        ("nan", "off-form"),
        ("-Infinity", "off-form"),
        ("1e999", "off-form"),
        ("1e-999", "off-form"),
        ("7 or 8", "several"),
        ("3,7", "several"),
        ("[7, 8]", "several"),
        ("a. 710 b. 720 c. 730", "several"),
        ("4.1\n4.2", "several"),
        ("I'm sorry, I cannot do that.", "refusal"),
        ("import random\nprint(random.gauss(10, 2))", "code"),
        ("```python\nx = 5\n```", "code"),
    ],
)
def test_no_number_is_guessed(text, status):
    """An answer without one unambiguous number has no value, and a class that says why."""
    found = extract_number(text)
    assert (found.value, found.status) == (None, status)


@pytest.mark.parametrize(
    "text", ["4.2", "The answer is 4", "The answer is 4.", "It is `4.27", "6.0e-58"]
)
def test_a_number_at_the_cut_is_no_number(text):
    """After the length limit a number at the very end is truncated; with "stop" it is read."""
    assert extract_number(text, finish_reason="length").status == "truncated"
    assert extract_number(text, finish_reason="stop").is_valid


@pytest.mark.parametrize(
    "text", ["4.2\n", "The answer is 4, which", "It is `4.27`", "Answer: 4\nBut"]
)
def test_a_number_before_the_cut_is_complete(text):
    """After the length limit a number that further text follows is read."""
    assert extract_number(text, finish_reason="length").is_valid


def test_a_whole_number_is_asked_for_strictly_only():
    """A decimal where a whole number was asked for is off-form strictly and a value leniently."""
    assert extract_number("7.0", mode="strict", is_integer=True).status == "off-form"
    assert extract_number("7", mode="strict", is_integer=True).value == 7
    assert number("7.5", is_integer=True) == 7.5


def test_the_order_said_to_be_the_answer_wins():
    """The input echoed beside the answer is not taken for the answer."""
    text = 'Original: ["a", "b"]\nShuffled: ["b", "a"]'
    assert extract_permutation(text, ("a", "b")).value == (1, 0)
    two = extract_permutation('["a", "b"]\n["b", "a"]', ("a", "b"))
    assert two.status == "several"


def test_an_order_inside_code_or_objects_is_no_answer():
    """Lists in programs, objects without order and lists of lists are not read."""
    items = ("a", "b")
    assert extract_permutation('```python\nx = ["a", "b"]\n```', items).status == "code"
    assert extract_permutation('{"x": "a", "y": "b"}', items).status == "off-form"
    assert extract_permutation('[["a", "b"], ["b", "a"]]', items).status == "off-form"


def test_a_list_at_the_cut_is_truncated():
    """A list without brackets that ends at the length limit may go on."""
    found = extract_permutation("b, a", ("a", "b"), finish_reason="length")
    assert found.status == "truncated"


def test_equal_items_take_their_indices_in_order():
    """Items that are alike are told apart by their order alone."""
    assert extract_permutation("[b, a, a]", ("a", "b", "a")).value == (1, 0, 2)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("not heads", "off-form"),
        ("If heads, I win", "off-form"),
        ("heads or tails", "several"),
        ("hea", "off-form"),
        ("", "empty"),
        ("I cannot flip coins.", "refusal"),
    ],
)
def test_no_label_is_guessed(text, status):
    """A label that is denied, conditional, one of several or unfinished is not chosen."""
    assert extract_choice(text, ("heads", "tails")).status == status


def test_a_label_that_could_go_on_is_truncated():
    """At the length limit a label that begins another one is no label."""
    labels = ("New", "New York")
    assert extract_choice("New", labels, finish_reason="length").status == "truncated"
    assert extract_choice("New York", labels, finish_reason="length").value == "New York"


def test_illegal_lines_have_no_value():
    """One illegal line leaves no value; two different blocks are several."""
    legal = ("heads", "tails")
    assert extract_lines("heads\nedge", legal).status == "off-form"
    assert extract_lines("```\nheads\n```\nor\n```\ntails\n```", legal).status == "several"
    assert extract_lines("heads", legal, finish_reason="length").status == "truncated"


def test_no_output_is_an_answer_when_it_is_said():
    """The words for no output are the empty value; silence is no answer."""
    legal = ("heads", "tails")
    assert extract_lines("(no output)", legal, mode="strict").value == ""
    for text in ("No output.", "```\n(no output)\n```", "Answer: (no output)"):
        assert extract_lines(text, legal).value == ""
        assert extract_lines(text, legal, mode="strict").status == "off-form"
    assert extract_lines("", legal).status == "empty"


@pytest.mark.parametrize("unit", ["is 5, ", "=5 ", "[1]", "7 ", "the answer is {}. ", "x = {} "])
def test_equal_words_are_judged_alike_wherever_they_stand(unit):
    """A long text of one pattern is read as a short one of it; the digits decide nothing."""
    short, long = (
        extract_number("".join(unit.format(10 + i) for i in range(n))) for n in (60, 600)
    )
    assert (short.status, short.value) == (long.status, long.value)
    other = extract_number("".join(unit.format(90 - i % 70) for i in range(600)))
    assert other.status == long.status
