"""The build jobs of a source, one per competition. Only this module of `kbdash.content` opens sources and databases."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from kbdash.code.parquet import inspect
from kbdash.content.building.build import Job
from kbdash.database.connection import Database
from kbdash.dataset.config import Settings
from kbdash.dataset.source import Source
from kbdash.errors import DataUnavailable, UnknownProblem

ROOT = "content"


def content_root(settings: Settings) -> Path:
    """The default folder of stores."""
    return settings.cache / ROOT


class Opened:
    """A source opened for building; close it when done."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self._source = source
        self._database = Database(source, settings, inspect=lambda file: inspect(source.bytes.open(file.name)))

    def close(self) -> None:
        """Free the connections."""
        self._database.close()
        self._source.close()

    def jobs(self, slugs: Sequence[str], root: Path) -> list[Job]:
        """A job for each of these competitions; for all readable ones if none is named."""
        self._database.wait_until_opened()
        attached = {item.competition.slug: item for item in self._database.competitions()}
        unknown = [slug for slug in slugs if slug not in attached]
        if unknown:
            raise UnknownProblem(f"There is no competition {unknown[0]}.", advice=f"There are {', '.join(attached)}.")
        broken = next((attached[slug] for slug in slugs if attached[slug].reason), None)
        if broken:
            raise DataUnavailable(str(broken.reason), advice="Other competitions can still be built.")
        wanted = slugs or [slug for slug, item in attached.items() if not item.reason]
        return [self._job(slug, file.name, root) for slug in wanted if (file := attached[slug].file)]

    def _job(self, slug: str, name: str, root: Path) -> Job:
        file = self._source.files[name]
        source = self._source
        origin = {
            "dataset": source.dataset or source.label,
            "commit": source.commit or "",
            "licence": source.licence or "",
        }
        return Job(slug, file, source.bytes.open(name), self._rows, root, origin)

    def _rows(self, competition: str) -> pd.DataFrame:
        return self._database.frame("content_rows", competition=competition)
