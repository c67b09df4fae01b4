"""Models that come as packages of their own, known by their entry points; everything that loads a model asks here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

ENTRY_POINTS = "streamcoref.models"  # the group; an entry's name is the model's, its value the path of its folder
_OURS = {"base": "models/base"}  # models of this project, and where their packages lie


def installed_folder(name: str) -> Path | None:
    """The folder of the installed model of that name; None if there is none. Only that model's package is imported.

    A name with a slash is a folder's or one on the hub, whatever a package calls its model.
    """
    points = () if "/" in name else tuple(_points().select(name=name))
    if not points:
        return None
    packages = sorted(point.dist.name if point.dist else point.value for point in points)
    if len(points) > 1:
        raise StreamcorefError(
            f"the packages {' and '.join(packages)} all have a model called {name}; remove all but one"
        )
    whose = f"the model {name}, which the package {packages[0]} brings,"
    try:
        folder = points[0].load()
    except Exception as error:  # whatever another package does when it is imported
        raise StreamcorefError(
            f"{whose} cannot be found: {type(error).__name__}: {error}; mend or remove that package"
        ) from error
    if not isinstance(folder, str | Path):
        raise StreamcorefError(
            f"{whose} has no folder: {points[0].value} is a {type(folder).__name__}, not a path; "
            "mend or remove that package"
        )
    if not Path(folder).is_dir():
        raise StreamcorefError(f"{whose} has no folder: there is no {folder}; install that package again")
    return Path(folder)


def no_such_model(name: str) -> StreamcorefError:
    """What to say of a name that is neither a folder nor that of an installed model, and cannot be one on the hub."""
    if name in _OURS:
        return StreamcorefError(
            f"the model {name} is a package of its own, which is not installed; in a clone of streamcoref, "
            f"pip install ./{_OURS[name]} installs it"
        )
    installed = ", ".join(sorted({"default", *_points().names}))
    return StreamcorefError(
        f"there is no model folder {name}, and a name on the hub has the form owner/model; "
        f"installed models: {installed}"
    )


def _points() -> EntryPoints:
    from importlib.metadata import entry_points  # which knows what was installed a moment ago

    return entry_points(group=ENTRY_POINTS)
