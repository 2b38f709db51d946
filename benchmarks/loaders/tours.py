"""Walks of tourists between points of interest."""

from __future__ import annotations

import csv
import lzma
from typing import NamedTuple

from benchmarks.loaders.folder import check_choice, data_file

CITIES = ("Osak", "Glas", "Edin", "Toro", "Melb")


class PointOfInterest(NamedTuple):
    """A place that tourists visit."""

    name: str
    category: str
    lon: float  # degrees
    lat: float


class Trip(NamedTuple):
    """The different points that one user visited on one walk, in the order of the first visits."""

    user: str
    points: list[str]
    times: list[int]  # seconds since 1970 at which the visits began


class Tours(NamedTuple):
    """The points of a city and the trips between them."""

    points: list[PointOfInterest]
    trips: list[Trip]

    def places(self) -> dict[str, tuple[float, float]]:
        """Longitude and latitude of every point by its name, as RoutePredictor takes them."""
        return {point.name: (point.lon, point.lat) for point in self.points}


def load_flickr_tours(city: str) -> Tours:
    """Where photographs that one user took in a row show points of interest, in one of five cities.

    ``city`` is ``"Osak"``, ``"Glas"``, ``"Edin"``, ``"Toro"`` (Lim, Chan, Leckie and Karunasekera, "Personalized tour
    recommendation based on user interests and points of interest visit durations", IJCAI 2015) or ``"Melb"`` (Chen, Ong
    and Xie, "Learning points and routes to recommend trajectories", CIKM 2016). Most trips have one point only: of
    three or more points there are 47 among 27 points, 112 among 27, 634 among 28, 335 among 29 and 442 among 88.
    """
    check_choice("city", city, *CITIES)
    with open(data_file("flickr-tours", f"poi-{city}.csv"), encoding="utf-8", newline="") as lines:
        points = [
            PointOfInterest(row["poiID"], row["poiCat"], float(row["poiLon"]), float(row["poiLat"]))
            for row in csv.DictReader(lines)
        ]
    visits: dict[str, list[tuple[int, str, str]]] = {}  # of every trip
    with lzma.open(data_file("flickr-tours", f"traj-{city}.csv.xz"), "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            visits.setdefault(row["trajID"], []).append((int(row["startTime"]), row["poiID"], row["userID"]))
    return Tours(points, [_trip(sorted(each, key=lambda visit: visit[0])) for each in visits.values()])


def _trip(visits: list[tuple[int, str, str]]) -> Trip:
    begun: dict[str, int] = {}
    for time, point, _ in visits:
        begun.setdefault(point, time)
    return Trip(visits[0][2], list(begun), list(begun.values()))
