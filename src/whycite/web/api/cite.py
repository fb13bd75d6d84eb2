"""Recommend papers for a claim."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from whycite.cite.bibtex import as_bibtex
from whycite.cite.recommendations import Claim, recommendation_json
from whycite.structure import parse_section_type
from whycite.web.schemas import CiteAnswer, CiteQuestion
from whycite.web.server import PROBLEMS, CurrentServer, Server, json_response

__all__ = ["router"]

router = APIRouter(tags=["cite"])


@router.post("/cite", response_model=CiteAnswer, responses=PROBLEMS)
async def cite(question: CiteQuestion, here: CurrentServer) -> Response:
    """The papers that a claim should cite, with the evidence for each."""
    return await here.ask(lambda: _cite(here, question))


def _cite(here: Server, question: CiteQuestion) -> Response:
    claim = Claim(
        question.text,
        title=question.title,
        section_type=parse_section_type(question.section) if question.section else None,
        cited=tuple(question.cited),
        year=question.year_max,
    )
    method = here.current.method(question.method)
    recommendations = method.recommend(claim, question.n)
    doubt = getattr(method, "doubt", None)
    answer: CiteAnswer = {
        "text": question.text,
        "doubtful": bool(recommendations) and doubt is not None and recommendations[0].score < doubt,
        "recommendations": [
            {**recommendation_json(recommendation, question.explain), "bibtex": as_bibtex([recommendation.paper])}
            for recommendation in recommendations
        ],
    }
    return json_response(answer)
