"""What a claim should cite, and why."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from whycite.recommend import Claim, as_bibtex, as_dict
from whycite.structure import type_named
from whycite.web.api.shared import PROBLEMS, Here, Server, answered
from whycite.web.schemas import CiteAnswer, CiteQuestion

__all__ = ["router"]

router = APIRouter(tags=["cite"])


@router.post("/cite", response_model=CiteAnswer, responses=PROBLEMS)
async def cite(question: CiteQuestion, here: Here) -> Response:
    """The papers that a claim should cite, each with the evidence for it."""
    return await here.ask(lambda: _cite(here, question))


def _cite(here: Server, question: CiteQuestion) -> Response:
    claim = Claim(
        question.text,
        title=question.title,
        section_type=type_named(question.section) if question.section else None,
        cited=tuple(question.cited),
        year=question.year_max,
    )
    method = here.current.method(question.method)
    found = method.recommend(claim, question.n)
    doubt = getattr(method, "doubt", None)
    told = {
        "text": question.text,
        "doubtful": bool(found) and doubt is not None and found[0].score < doubt,
        "recommendations": [{**as_dict(each, question.explain), "bibtex": as_bibtex([each.paper])} for each in found],
    }
    return answered(told)
