"""Recommend papers for a claim."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from whycite.cite.exports import as_bibtex
from whycite.cite.fit import nothing_fits
from whycite.cite.recommendations import Claim, answer_fits, recommendation_json
from whycite.structure import parse_section_type
from whycite.web.schemas import CiteAnswer, CiteAnswers, CiteQuestion, CiteQuestions
from whycite.web.server import PROBLEMS, CurrentServer, Server, json_response

__all__ = ["router"]

router = APIRouter(tags=["cite"])


@router.post("/cite", response_model=CiteAnswer, responses=PROBLEMS)
async def cite(question: CiteQuestion, here: CurrentServer) -> Response:
    """The papers that a claim should cite, with the evidence for each."""
    return await here.ask(lambda: json_response(_cite(here, question)))


@router.post("/cite/batch", response_model=CiteAnswers, responses=PROBLEMS)
async def batch(batch: CiteQuestions, here: CurrentServer) -> Response:
    """The papers that each of several claims should cite, in the order of the claims."""
    return await here.work(lambda: json_response({"answers": [_cite(here, question) for question in batch.questions]}))


def _cite(here: Server, question: CiteQuestion) -> CiteAnswer:
    claim = Claim(
        question.text,
        title=question.title,
        section_type=parse_section_type(question.section) if question.section else None,
        cited=tuple(question.cited),
        year=question.year_max,
        include_retracted=question.include_retracted,
    )
    recommendations = here.current.method(question.method).recommend(claim, question.n)
    fits = answer_fits(recommendations)
    return {
        "text": question.text,
        "fits": fits,
        "doubtful": bool(recommendations) and nothing_fits(fits),
        "recommendations": [
            {**recommendation_json(recommendation, question.explain), "bibtex": as_bibtex([recommendation.paper])}
            for recommendation in recommendations
        ],
    }
