"""Toy data for the laboratory: articles, claims, labellers and papers small enough to follow by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np

from whycite.lab.annotate.tasks import LABELS, LabellingTask, TaskKind, TaskOption
from whycite.lab.scope.candidates import CandidatePaper, CitedSet, Lessons
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.measures import SentenceComparison
from whycite.lab.thesis.networks import WordVectors
from whycite.lab.train.corpus import Article, CitingSentence, Corpus, View

CITED_PAPERS = 30
TOPICS = ["ants", "bees", "cats", "dogs"]
WORDS = [*TOPICS, "show", "that", "results", "grow", "slowly", "here", "and", "there"]
PAPERS = {
    key: CandidatePaper(key, title, year=year)
    for key, title, year in (
        ("a", "Sleep of bees", 1990),
        ("b", "Sleep of flies", 2000),
        ("c", "Dance of bees", 2005),
        ("d", "Deep networks", 2015),
        ("e", "Deep attention networks", 2017),
        ("f", "A paper without a year", None),
    )
}
CITED_SETS = ("ab", "abc", "abd", "de", "de", "df")


def make_corpus(articles: int = 40, seed: int = 0, shuffled: bool = False) -> Corpus:
    """Articles that say words of a paper's own when they cite it; shuffled, they cite any paper."""
    chance = Random(seed)
    vocabulary = {paper: [f"w{4 + paper * 6 + word}" for word in range(6)] for paper in range(CITED_PAPERS)}
    written = []
    for number in range(articles):
        sentences = []
        for paper in chance.sample(range(CITED_PAPERS), 8):
            words = [*chance.sample(vocabulary[paper], 3), f"w{chance.randrange(184, 200)}"]
            chance.shuffle(words)
            cited = (chance.randrange(CITED_PAPERS) if shuffled else paper,)
            views = (View(" ".join(words[:3]), cited), View(" ".join(words), cited))
            sentences.append(CitingSentence(" ".join(words), "introduction", views))
        written.append(Article(f"doi:10.1/{number}", f"2020-01-{1 + number % 28:02}", ("Words",), tuple(sentences)))
    papers = {paper: " ".join(words[:4]) + "\n" + " ".join(words) for paper, words in vocabulary.items()}
    return Corpus(tuple(sorted(written, key=lambda article: (article.date, article.key))), papers)


def make_comparisons(number: int, seed: int, by_place: bool = False) -> list[SentenceComparison]:
    """The right sentence names the claim's topic, or it stands after "results", which no other does."""
    chance = Random(seed)
    comparisons = []
    for place in range(number):
        topic = chance.choice(TOPICS)
        filler = chance.choice(["grow slowly here", "and there that"])  # few, so that claims share documents
        if by_place:
            true = chance.choice([1, 3])
            sentences = [f"{topic} {filler}"] * 4
            sentences[true - 1] = "results"
            wrong = [2 if true == 3 else 3] if true == 1 else [1]
        else:
            sentences = [f"{subject} {filler}" for subject in TOPICS]
            true = TOPICS.index(topic)
            wrong = [index for index in range(4) if index != true]
        case = PassageCase(
            f"{seed}-{place}",
            "toy",
            f"show {topic}",
            f"citing {place}",
            f"{place}",
            tuple(sentences),
            frozenset({true}),
        )
        comparisons += [SentenceComparison(case, true, index, 0) for index in wrong]
    return comparisons


def toy_lexicon() -> WordVectors:
    """Vectors of the few words, by lot."""
    vectors = np.random.default_rng(0).normal(size=(len(WORDS) + 1, 12)).astype(np.float32)
    vectors[0] = 0
    return WordVectors("toy", vectors, {word: number for number, word in enumerate(WORDS, start=1)}, "toy-1")


def make_tasks(number: int, kind: TaskKind = "BR") -> dict[str, LabellingTask]:
    """Tasks of a kind, each with documents of its own."""
    options = 2 if kind == "BR" else 1
    return {
        f"t{task}": LabellingTask(
            f"t{task}",
            kind,
            f"Claim {task}.",
            tuple(TaskOption(option, f"Sentence {option} of {task}.") for option in range(options)),
            f"citing {task}",
            f"cited {task}",
        )
        for task in range(number)
    }


def simulate_labels(
    skills: Sequence[float], number: int = 300, kind: TaskKind = "BR", seed: int = 0
) -> tuple[dict[str, LabellingTask], dict[str, dict[str, str]]]:
    """Tasks with gold and what labellers of these skills say, by GLAD's own model of them."""
    random = np.random.default_rng(seed)
    tasks, answers = {}, {}
    for id, task in make_tasks(number, kind).items():
        gold, easiness = int(random.integers(len(LABELS[kind]))), float(np.exp(random.normal(0.5, 0.3)))
        tasks[id] = replace(task, gold=LABELS[kind][gold])
        correct = random.random(len(skills)) < 1 / (1 + np.exp(-np.array(skills) * easiness))
        answers[id] = {
            f"labeller {labeller}": LABELS[kind][gold] if correct[labeller] else _wrong_label(kind, gold, random)
            for labeller in range(len(skills))
        }
    return tasks, answers


def _wrong_label(kind: TaskKind, gold: int, random: np.random.Generator) -> str:
    wrong = [label for place, label in enumerate(LABELS[kind]) if place != gold]
    return wrong[0] if len(wrong) == 1 else wrong[int(random.integers(len(wrong)))]


def make_lessons(sets: Sequence[str] = CITED_SETS, floor: int = 1, seed: int = 0) -> Lessons:
    """Lessons of sets that are written as the letters of their papers."""
    cited = [
        CitedSet(f"doc{number}", "Bees" if "a" in letters else "Networks", ("method",), tuple(sorted(letters)))
        for number, letters in enumerate(sets)
    ]
    return Lessons(cited, PAPERS, floor, seed)


def lettered_papers(letters: str) -> tuple[CandidatePaper, ...]:
    """The papers of some letters."""
    return tuple(PAPERS[letter] for letter in letters)
