from __future__ import annotations

import pytest

SIBLINGS, GRANDPARENTS, GRANDSIBLINGS = "consecutive_siblings", "grandparents", "grandsiblings"
MODELS = {
    "first": (),
    "sibling": (SIBLINGS,),
    "grandparent": (GRANDPARENTS,),
    "grandsibling": (GRANDSIBLINGS,),
    "sibling+grandparent": (SIBLINGS, GRANDPARENTS),
    "grandparent+grandsibling": (GRANDPARENTS, GRANDSIBLINGS),
    "all": (SIBLINGS, GRANDPARENTS, GRANDSIBLINGS),
}


@pytest.fixture(params=MODELS.values(), ids=MODELS.keys())
def kinds(request):
    """The kinds of parts of a model of second order that can be summed."""
    return request.param
