"""The review queue in the explorer: what agents proposed, for its owner to accept or reject."""

from __future__ import annotations

from markupsafe import Markup

from ..tools.review import accept, queue, reject
from .markup import render
from .reading import NoteLinks
from .visit import Page, Redirect, Visit, through_the_lens


def review_page(visit: Visit) -> Page:
    """Show what waits, the oldest first. Raises `NoteNotFound` while the lens is closed."""
    through_the_lens(visit)
    waiting = queue(visit.vault)

    def shown() -> list[Markup]:
        links = (NoteLinks(visit.house, each.path, lens=True) for each in waiting)
        return [render(each.text, one) for each, one in zip(waiting, links, strict=True)]

    texts = visit.vault.index.ask(shown)
    return Page("review.html", {"waiting": list(zip(waiting, texts, strict=True)), "live": "*"})


def accept_proposal(visit: Visit) -> Redirect:
    """Let a proposal be remembered, word for word as it was shown."""
    through_the_lens(visit)
    accept(visit.vault, visit.form.get("ticket", ""))
    return Redirect("/review")


def reject_proposal(visit: Visit) -> Redirect:
    """Take a proposal out of its note; its history keeps it."""
    through_the_lens(visit)
    reject(visit.vault, visit.form.get("ticket", ""), visit.form.get("reason", "").strip() or None)
    return Redirect("/review")
