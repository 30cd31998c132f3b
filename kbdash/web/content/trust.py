"""Whether results can be trusted: every flagged one, both rankings, noise, and rules of KernelGuard that match."""

from typing import Any

import pandas as pd
import streamlit as st

from kbdash.units import count_text, plural
from kbdash.view import TrustView
from kbdash.web import answers, share, state, table, widgets
from kbdash.web.content import pickers, store_panel, trust_frames
from kbdash.web.escape import markdown
from kbdash.web.memo import memoise
from kbdash.web.session import engine

WHAT = "With it the noise of each board and the rules of KernelGuard that match are known."
LUCK = (
    "Noise is how much one measurement varies by itself, found where people sent the same program again. A best is the "
    "lowest of many tries and so lucky by design: it lies below what the same text scores on average."
)
RULES = "A match is no judgement: honest texts match rules too. The rules look at a text and run nothing."


def show() -> None:
    """The whole page."""
    view = state.view(TrustView)
    st.title("Trust", anchor=False)
    widgets.chips(
        ["Reasons to doubt a result, the ranking without such results, and how much times vary by themselves."]
    )
    widgets.link_notes()
    with st.popover("Which board", icon=":material/tune:", key="trust-filters"):
        pickers.board(view)
    slug = pickers.competition(view)
    if view.problem is not None and slug is not None:
        with widgets.boundary("trust-board-problem"):
            _first(view, slug)
    slugs = (slug,) if slug else engine().readable()
    with widgets.boundary("trust-flags-problem"):
        _flags(view, slugs)
    with widgets.boundary("trust-boards-problem"):
        _boards(slugs)
    with widgets.boundary("trust-rules-problem"):
        _matches(slugs)


def _first(view: TrustView, slug: str) -> None:
    """The first ranks of one board with every ranking side by side."""
    _, problem = engine().find(str(view.problem), slug)
    st.header(markdown(f"{problem}, the first {view.top}"), anchor=False)
    asked: dict[str, Any] = {"competition": slug, "runner": view.runner}
    ranked, clean = answers.leaderboard(problem, **asked), answers.leaderboard(problem, flagged=False, **asked)
    matches = answers.verdicts(slug) if store_panel.is_at_hand(slug) else None
    sigmas = noise_of(slug, problem, ranked) if store_panel.is_at_hand(slug) else {}
    shown = memoise(
        first_rows, ranked, clean, matches, tuple(sigmas.items()), slug, problem, view.top, engine().linkable()
    )
    table.show(shown, trust_frames.FIRST_COLUMNS, key="trust-first", caption=f"The first ranks of {problem}")
    if matches is None:
        store_panel.missing(slug, WHAT)


def first_rows(
    ranked: pd.DataFrame, clean: pd.DataFrame, matches: pd.DataFrame | None,
    sigmas: tuple[tuple[str, float | None], ...], slug: str, problem: str, top: int, linkable: tuple[str, ...],
) -> pd.DataFrame:  # fmt: skip
    """The first ranks with flags, matches and noise."""
    here = matches[matches["problem"] == problem] if matches is not None else None
    rules: dict[tuple[int, str], list[str]] = {}
    if here is not None:
        for id_, runner, rule in zip(here["submission_id"], here["runner"], here["rule"], strict=True):
            rules.setdefault((int(id_), str(runner)), []).append(rule)
    both = trust_frames.unmatched_ranks(trust_frames.both_ranks(ranked, clean), frozenset(rules))
    if here is None:
        both = both.assign(rank_unmatched=pd.array([pd.NA] * len(both), dtype="Int64"))
    pairs = zip(both["submission_id"], both["runner"], strict=True)
    named = [", ".join(rules.get((int(id_), run), ())) if pd.notna(id_) else "" for id_, run in pairs]
    first = both.assign(close=trust_frames.close_ranks(both, dict(sigmas)), rules=named)
    return trust_frames.shown_first(first[first["rank"] <= top].reset_index(drop=True), slug, linkable)


def _flags(view: TrustView, slugs: tuple[str, ...]) -> None:
    st.header("Flagged results", anchor=False)
    flags = answers.flags()
    widgets.left_out(flags)
    found = memoise(flagged, flags, slugs, view.problem)
    if found.empty:
        st.markdown("No user's best is flagged here.")
        return
    with st.container(horizontal=True, vertical_alignment="center", key="trust-flags-bar"):
        st.caption(f"{plural(len(found), 'flag')} on users' bests. A flag is a reason to look, not a verdict.")
        with st.container(horizontal=True, horizontal_alignment="right", gap="small", key="trust-flags-tools"):
            asked = {"problem": view.problem, "competition": view.competition}
            share.copy_links(view, share.data_path("flags", asked), key="trust")
            share.downloads(found, share.file_stem("flagged"), key="trust-flags")
    table.show(
        memoise(trust_frames.shown_flags, found, engine().linkable()),
        trust_frames.FLAGS,
        key="trust-flags",
        caption="Flagged results",
    )
    st.caption("The data link has the flags of all submissions, not only of bests.")


def flagged(flags: pd.DataFrame, slugs: tuple[str, ...], problem: str | None) -> pd.DataFrame:
    """The flagged bests of all boards that have a flag at all."""
    wanted = flags[flags["competition"].isin(slugs)]
    if problem is not None:
        wanted = wanted[wanted["problem"] == problem]
    found = [
        trust_frames.flagged_rows(both(str(slug), str(name)), part, str(slug), str(name))
        for (slug, name), part in wanted.groupby(["competition", "problem"], sort=False)
    ]
    full = [frame for frame in found if len(frame)]
    return pd.concat(full, ignore_index=True) if full else pd.DataFrame()


def both(slug: str, problem: str) -> pd.DataFrame:
    """The leaderboard of a board with both ranks, per runner."""
    ranked = answers.leaderboard(problem, competition=slug)
    return memoise(trust_frames.both_ranks, ranked, answers.leaderboard(problem, competition=slug, flagged=False))


def _boards(slugs: tuple[str, ...]) -> None:
    st.header("Boards: what flags change, and noise", anchor=False)
    st.caption(LUCK)
    found = memoise(boards, answers.flags(), slugs, engine().content_at_hand())
    if found.empty:
        st.markdown("There is no ranked result here.")
        return
    telling = memoise(trust_frames.telling_boards, found)
    with st.container(horizontal=True, vertical_alignment="center", key="trust-boards-bar"):
        st.caption(boards_said(len(found) - len(telling), slugs))
        share.downloads(found, share.file_stem("trust-boards"), key="trust-boards")
    if len(telling):
        table.show(
            memoise(trust_frames.shown_boards, telling), trust_frames.BOARDS, key="trust-boards-table", caption="Boards"
        )


def boards_said(left_out: int, slugs: tuple[str, ...]) -> str:
    """What the table of boards leaves out, and where the noise is unknown."""
    other = f"{plural(left_out, 'board')} without flagged results among the first hundred and without known noise "
    said = [f"{other}{'is' if left_out == 1 else 'are'} in the download only."] if left_out else []
    titles = {item.slug: item.title for item in engine().competitions}
    missing = [titles.get(slug, slug) for slug in slugs if slug not in engine().content_at_hand()]
    if missing:
        said.append(f"Noise is known only with a content store, which is missing for {markdown(', '.join(missing))}.")
    return " ".join(said)


def boards(flags: pd.DataFrame, slugs: tuple[str, ...], stores: tuple[str, ...]) -> pd.DataFrame:
    """One row per board and runner: users, flags among the first, ranks that change, noise, close ranks."""
    found = []
    for slug in slugs:
        suspect = set(flags.loc[flags["competition"] == slug, "problem"])
        for problem in engine().problem_names(slug):
            ranked = answers.leaderboard(problem, competition=slug)
            joined = both(slug, problem) if problem in suspect else ranked.assign(rank_without=ranked["rank"])
            for runner in dict.fromkeys(ranked["runner"]):
                found.append({"competition": slug, "problem": problem, "runner": runner,
                              "users": int((ranked["runner"] == runner).sum()),
                              **trust_frames.board_row(joined, runner),
                              **_noise(slug, problem, runner, ranked, slug in stores)})  # fmt: skip
    return pd.DataFrame(found)


def _noise(slug: str, problem: str, runner: str, ranked: pd.DataFrame, known: bool) -> dict[str, Any]:
    if not known:
        return {"sigma": None, "pairs": None, "close_10": None, "close": None}
    noise = answers.noise(problem, runner, slug)
    part = ranked[ranked["runner"] == runner]
    close = trust_frames.close_ranks(part, {runner: noise["sigma"]})
    first = [each for each, rank in zip(close, part["rank"], strict=True) if rank <= trust_frames.FIRST[0]]
    counts = {"close_10": sum(first), "close": sum(close)} if noise["sigma"] else {"close_10": None, "close": None}
    return {"sigma": noise["sigma"], "pairs": noise["pairs"], **counts}


def noise_of(slug: str, problem: str, ranked: pd.DataFrame) -> dict[str, float | None]:
    """The noise of each runner of a board."""
    return {str(runner): answers.noise(problem, runner, slug)["sigma"] for runner in dict.fromkeys(ranked["runner"])}


def _matches(slugs: tuple[str, ...]) -> None:
    st.header("Rules of KernelGuard that match", anchor=False)
    st.caption(RULES)
    there = [slug for slug in slugs if store_panel.is_at_hand(slug)]
    if len(slugs) == 1 and store_panel.missing(slugs[0], WHAT):
        return
    asked = bests = 0
    found = []
    for slug in there:
        matches = answers.verdicts(slug)
        asked, bests = asked + matches.attrs["asked"], bests + matches.attrs["bests"]
        if len(matches):
            found.append(memoise(with_ranks, matches, slug))
    if not there:
        st.markdown("Known only with a content store. Choose a competition under *Which board* to build its store.")
        return
    st.caption(
        f"KernelGuard was asked about {count_text(asked)} of {count_text(bests)} users' bests"
        + (", the rest follow while a store is built." if asked < bests else ".")
    )
    if found:
        shown = memoise(trust_frames.shown_matches, memoise(best_first, *found), engine().linkable())
        table.show(
            shown, trust_frames.MATCHES, key="trust-matches", caption="Rules of KernelGuard that match users' bests"
        )


def best_first(*frames: pd.DataFrame) -> pd.DataFrame:
    """The frames concatenated, the best ranks first."""
    return pd.concat(frames, ignore_index=True).sort_values(["rank", "score"], kind="stable").reset_index(drop=True)


def with_ranks(matches: pd.DataFrame, slug: str) -> pd.DataFrame:
    """Matches with each one's rank now."""
    parts = []
    for problem, part in matches.groupby("problem", sort=False):
        ranks = answers.leaderboard(str(problem), competition=slug)[["submission_id", "runner", "rank"]]
        parts.append(part.merge(ranks, on=["submission_id", "runner"], how="left"))
    return pd.concat(parts, ignore_index=True).assign(competition=slug)
