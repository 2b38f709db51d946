import lzma

import pytest

from benchmarks.loaders import DataNotFound, PointOfInterest, Trip, load_flickr_tours

HEADING = "userID,trajID,poiID,startTime,endTime,#photo,trajLen,poiDuration\n"


def write(folder, points, visits):
    (folder / "flickr-tours").mkdir()
    (folder / "flickr-tours" / "poi-Osak.csv").write_text(points)
    with lzma.open(folder / "flickr-tours" / "traj-Osak.csv.xz", "wt") as file:
        file.write(HEADING + visits)


def test_trips_are_ordered_by_time_and_columns_found_by_name(folder):
    write(
        folder,
        "poiID,poiCat,poiLat,poiLon\n7,Park,-1.5,2.5\n8,Zoo,3,4\n",
        "u,5,8,20,21,1,2,1\nu,5,7,9,12,1,2,3\nv,6,8,1,1,1,1,0\n",
    )
    points, trips = tours = load_flickr_tours("Osak")
    assert points == [PointOfInterest("7", "Park", 2.5, -1.5), PointOfInterest("8", "Zoo", 4.0, 3.0)]
    assert trips == [Trip("u", ["7", "8"], [9, 20]), Trip("v", ["8"], [1])]
    assert tours.places() == {"7": (2.5, -1.5), "8": (4.0, 3.0)}


def test_a_point_counts_once_at_its_first_visit(folder):
    write(
        folder,
        "poiID,poiCat,poiLon,poiLat\n7,Park,0,0\n8,Zoo,1,1\n",
        "u,5,8,3,3,1,2,0\nu,5,7,2,2,1,2,0\nu,5,8,1,1,1,2,0\n",
    )
    assert load_flickr_tours("Osak").trips == [Trip("u", ["8", "7"], [1, 2])]


@pytest.mark.usefixtures("folder")
def test_what_is_not_there_is_named():
    with pytest.raises(DataNotFound, match="'flickr-tours' was not found"):
        load_flickr_tours("Glas")
    with pytest.raises(ValueError, match="city must be 'Osak', 'Glas', 'Edin', 'Toro' or 'Melb', not 'Rome'"):
        load_flickr_tours("Rome")


@pytest.mark.data
@pytest.mark.parametrize(
    ("city", "counts"),
    [
        ("Osak", (27, 1372, 450, 1115, 186, 47, 27)),
        ("Glas", (27, 2749, 601, 2227, 351, 112, 42)),
        ("Edin", (28, 7853, 1454, 5028, 1412, 634, 120)),
        ("Toro", (29, 7607, 1395, 6057, 977, 335, 72)),
        ("Melb", (88, 7246, 1000, 5106, 1018, 442, 205)),
    ],
)
def test_published_counts(city, counts):
    points, trips = load_flickr_tours(city)
    long = [trip.points for trip in trips if len(trip.points) >= 3]
    n_visits, n_users = sum(len(trip.points) for trip in trips), len({trip.user for trip in trips})
    n_pairs, n_queries = sum(len(trip.points) >= 2 for trip in trips), len({(each[0], len(each)) for each in long})
    assert (len(points), n_visits, n_users, len(trips), n_pairs, len(long), n_queries) == counts
    assert {point for trip in trips for point in trip.points} <= {point.name for point in points}
    assert all(trip.times == sorted(trip.times) for trip in trips)
    # Columns that are exchanged would show.
    assert all(abs(point.lat) < 60 and (city == "Melb") == (point.lat < 0) for point in points)
