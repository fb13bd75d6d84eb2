"""Small things to train with: a model of random weights, and articles whose words tell what they cite."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from whycite.lab.train.bases import Base
from whycite.lab.train.corpus import Article, CitingSentence, Corpus, View
from whycite.models.folders import ModelSettings

WORDS, PAPERS = 200, 30

torch.set_num_threads(1)  # so small a model gains nothing by more, and tests share the cores


def make_base(seed: int = 0) -> Base:
    """A RoBERTa two layers deep and 32 wide, which knows the words w4 to w199."""
    torch.manual_seed(seed)
    marks = ["<s>", "<pad>", "</s>", "<unk>"]
    words = {word: number for number, word in enumerate([*marks, *(f"w{n}" for n in range(4, WORDS))])}
    tokenizer = Tokenizer(WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    config = transformers.RobertaConfig(
        vocab_size=WORDS,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=66,
        pad_token_id=1,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model: Any = transformers.AutoModel.from_config(config, add_pooling_layer=False)
    return Base("tiny", model, tokenizer, config, ModelSettings("tiny", max_tokens=64))


def make_corpus(articles: int = 40, seed: int = 0, shuffled: bool = False) -> Corpus:
    """Articles that say words of a paper's own when they cite it; shuffled, they cite any paper."""
    chance = Random(seed)
    own = {paper: [f"w{4 + paper * 6 + at}" for at in range(6)] for paper in range(PAPERS)}
    made = []
    for number in range(articles):
        sentences = []
        for paper in chance.sample(range(PAPERS), 8):
            words = [*chance.sample(own[paper], 3), f"w{chance.randrange(184, WORDS)}"]
            chance.shuffle(words)
            cited = (chance.randrange(PAPERS) if shuffled else paper,)
            views = (View(" ".join(words[:3]), cited), View(" ".join(words), cited))
            sentences.append(CitingSentence(" ".join(words), "introduction", views))
        made.append(Article(f"doi:10.1/{number}", f"2020-01-{1 + number % 28:02}", ("Words",), tuple(sentences)))
    papers = {paper: " ".join(words[:4]) + "\n" + " ".join(words) for paper, words in own.items()}
    return Corpus(tuple(sorted(made, key=lambda each: (each.date, each.key))), papers)


@pytest.fixture
def base() -> Callable[..., Base]:
    """Makes a tiny base."""
    return make_base


@pytest.fixture
def corpus() -> Callable[..., Corpus]:
    """Makes a small corpus."""
    return make_corpus
