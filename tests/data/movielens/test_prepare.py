from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sparseid.data.movielens.prepare import positives, prepared
from sparseid.errors import InputError

SOURCES = ["ml-25m", "ml-latest-small", "ml-1m", "ml-100k"]
RATINGS = {"ml-1m": "ratings.dat", "ml-100k": "u.data"}


def table(rows):
    return pd.DataFrame(rows, columns=["userId", "movieId", "rating"])


def by_hand(rows, config):
    """The steps one by one, as section 2.2 of the specification has them."""
    good = [(u, m) for u, m, r in rows if r >= config.min_rating]
    per_user = Counter(u for u, _ in good)
    good = [(u, m) for u, m in good if per_user[u] >= config.min_positives]
    per_movie = Counter(m for _, m in good)
    movies = sorted(sorted(per_movie, key=lambda m: (-per_movie[m], m))[: config.movies])
    users = sorted({u for u, m in good if m in movies})
    return [[int((u, m) in set(good)) for m in movies] for u in users], movies


def test_steps_are_those_of_the_authors(settings, ratings):
    config = settings()
    matrix, movies = positives(table(ratings), config)
    expected, expected_movies = by_hand(ratings, config)
    assert movies == expected_movies
    assert matrix.tolist() == expected
    assert 5 < len(matrix) < 40
    shuffled, _ = positives(table(ratings).sample(frac=1, random_state=0), config)
    assert np.array_equal(shuffled, matrix)


def test_known_matrix(settings):
    rows = [
        (1, 30, 5),
        (1, 10, 4),
        (1, 20, 3.5),
        (2, 30, 4.5),
        (2, 20, 4),
        (3, 30, 5),
        (3, 99, 1),
        (4, 40, 4),
        (4, 50, 4),
    ]
    matrix, movies = positives(table(rows), settings(min_positives=2, movies=2))
    assert movies == [10, 30]  # of 10, 20, 40 and 50, each liked once, the lowest; user 3 has one positive rating only
    assert matrix.tolist() == [[1, 1], [0, 1]]  # user 4 likes neither


def test_a_sample_of_users_is_that_of_the_old_generator(settings, ratings):
    whole, _ = positives(table(ratings), settings())
    some, _ = positives(table(ratings), settings(users=6))
    chosen = np.random.RandomState(42).choice(len(whole), 6, replace=False)
    assert np.array_equal(some, whole[chosen])


@pytest.mark.parametrize("source", SOURCES)
def test_every_release_gives_the_same(settings, write, ratings, source):
    config = settings(source=source, path=str(write(source)))
    expected, movies = positives(table(ratings), config)
    for _ in range(2):  # from the files, then from what was kept
        found = prepared(config)
        assert np.array_equal(found.matrix, expected)
        assert found.titles.tolist() == [f"Película {m // 10}, The (199{m // 10})" for m in movies]
        assert found.genres.tolist() == ["" if source == "ml-100k" else "Drama|Comedy"] * len(movies)
        assert found.remark == ""


def test_what_was_kept_is_not_used_for_another_file_or_setting(settings, write, ratings):
    config = settings(source="ml-1m", path=str(write("ml-1m")))
    first = prepared(config).matrix
    assert prepared(settings(source="ml-1m", path=config.path, movies=4)).matrix.shape[1] == 4
    write("ml-1m", rows=ratings[10:])
    assert not np.array_equal(prepared(config).matrix, first)


def test_titles_that_are_not_utf8_are_read_and_told_of(settings, write):
    found = prepared(settings(source="ml-25m", path=str(write("ml-25m", encoding="latin-1"))))
    assert found.titles[0] == "Película 0, The (1990)"
    assert "movies.csv is not UTF-8: its titles were read as Latin-1" in found.remark


def refused(config):
    with pytest.raises(InputError) as caught:
        prepared(config)
    return str(caught.value)


@pytest.mark.parametrize(
    ("source", "old", "new", "said"),
    [
        ("ml-25m", ",", ";", "no column userId and no column movieId and no column rating in the first line, 'userId;"),
        ("ml-25m", "rating,", "stars,", "no column rating in the first line"),
        ("ml-1m", "::", ",", "1 fields in the first line"),
        ("ml-1m", "::", "\t", "separated by '::'"),
        ("ml-100k", "\t", " ", "separated by tabulators"),
        (
            "ml-25m",
            ",3.0,",
            ",three,",
            ",three,961' is not userId, movieId, rating, timestamp, separated by commas in numbers",
        ),
        (
            "ml-25m",
            ",3.0,",
            ",3,5,",
            ",3,5,961' is not userId, movieId, rating, timestamp, separated by commas in numbers",
        ),
        (
            "ml-100k",
            "\t3\t",
            "\t3\t5\t",
            "\\t3\\t5\\t961' is not userId, movieId, rating, timestamp, separated by tabulators",
        ),
        ("ml-25m", ",3.0,", ",30,", "ratings are not between 0.5 and 5.0"),
    ],
)
def test_ratings_in_another_form_are_refused(settings, write, source, old, new, said):
    path = write(source) / RATINGS.get(source, "ratings.csv")
    path.write_text(path.read_text().replace(old, new))
    assert said in refused(settings(source=source, path=str(path.parent)))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("wrong", ["one", "1.5", "", "\u00b2"])
def test_the_line_that_is_no_rating_is_named(settings, write, ratings, source, wrong):
    rows = [*ratings[:20], (wrong, 17, 4.0), *ratings[20:]]
    message = refused(settings(source=source, path=str(write(source, rows=rows))))
    line = 22 if source in ("ml-25m", "ml-latest-small") else 21
    assert f", line {line}: '{wrong}" in message


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1\0 2,7,4.0,9", "ratings.csv has a NUL byte in line 2"),
        ('1,7,4.0,"9\n2,7,3.0,9\n3,7,3.0,9"', "line 2: a field has a tab or a newline; is a quote not closed?"),
        ('"1"2,7,4.0,9', "line 2: the quotes do not match"),
        ("0,1,7,4.0,9", "line 2: '0,1,7,4.0,9' is not userId, movieId"),
        ("1_0,7,4.0,9", "line 2: '1_0,7,4.0,9' is not userId, movieId"),
        (
            f"{2**64},7,4.0,9",
            f"line 2: '{2**64},7,4.0,9' is not userId, movieId, rating, timestamp, separated by commas",
        ),
    ],
)
def test_lines_that_pandas_would_read_as_others_are_refused(settings, write, line, said):
    path = write("ml-25m") / "ratings.csv"
    path.write_text(path.read_text().replace("\n", f"\n{line}\n", 1))
    assert said in refused(settings(source="ml-25m", path=str(path.parent)))


def test_quoted_numbers_and_commas_at_the_end_change_no_rating(settings, write):
    config = settings(source="ml-25m", path=str(write("ml-25m")))
    expected = prepared(config).matrix
    path = Path(config.path) / "ratings.csv"
    text = path.read_text()
    for changed in (
        text.replace("\n", ",\n"),
        "".join('"' + line.replace(",", '","') + '"\n' for line in text.split()),
    ):
        path.write_text(changed)
        assert np.array_equal(prepared(config).matrix, expected)


def test_a_file_without_a_wrong_line_is_not_blamed_on_one(settings, write):
    path = write("ml-25m") / "ratings.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(['"1",7,"4","960"', *lines[1:3], '"1",x,4,9']).replace('"1",7', lines[0] + '\n"1",7'))
    assert ", line 5: '\"1\",x,4,9'" in refused(settings(source="ml-25m", path=str(path.parent)))


def test_a_pair_that_occurs_twice_is_named(settings, write, ratings):
    path = write("ml-100k", rows=[*ratings, ratings[3]])
    user, movie, _ = ratings[3]
    message = refused(settings(source="ml-100k", path=str(path)))
    assert f"1 pairs of user and film occur more than once, the first is user {user} and film {movie}" in message


def test_the_lines_of_a_pair_that_occurs_twice_are_named(settings, write, ratings):
    path = write("ml-25m") / "ratings.csv"
    path.write_text(path.read_text().replace("\n", "\n \n", 1) + "\n1,7,4.0,9\n1,7,4.0,9\n")  # two blank lines
    first = 3 + ratings.index(next(row for row in ratings if row[:2] == (1, 7)))
    assert f"(lines {first} and {len(ratings) + 4})" in refused(settings(source="ml-25m", path=str(path.parent)))


@pytest.mark.parametrize("source", SOURCES)
def test_the_line_without_a_rating_is_named(settings, write, source):
    path = write(source) / RATINGS.get(source, "ratings.csv")
    lines = path.read_bytes().split(b"\n")
    for number in (9, 11):
        separator = {"ml-1m": b"::", "ml-100k": b"\t"}.get(source, b",")
        user, film, _, when = lines[number - 1].split(separator)
        lines[number - 1] = separator.join([user, film, b"", when])
    path.write_bytes(b"\n".join(lines))
    message = refused(settings(source=source, path=str(path.parent)))
    assert f"line 9 of {path} has no rating, the first of 2 such lines" in message


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("column", [0, 1, 2])
@pytest.mark.parametrize("word", ["True", "TRUE", "true", "False", "FALSE", "false"])
@pytest.mark.parametrize("everywhere", [True, False])
def test_truths_are_no_numbers(settings, write, source, column, word, everywhere):
    """Pandas takes a column of them for 1 and 0."""
    path = write(source) / RATINGS.get(source, "ratings.csv")
    separator = {"ml-1m": "::", "ml-100k": "\t"}.get(source, ",")
    lines = path.read_text(encoding="latin-1").rstrip("\n").split("\n")
    first = 1 if "csv" in path.name else 0
    for number in range(first, len(lines)) if everywhere else [first]:
        fields = lines[number].split(separator)
        fields[column] = word
        lines[number] = separator.join(fields)
    path.write_text("\n".join(lines) + "\n", encoding="latin-1")
    such = f", the first of {len(lines) - first} such lines" if everywhere else ""
    said = (
        f"{path}, line {first + 1}: '" if column < 2 else f"line {first + 1} of {path} has no rating{such}: write a n"
    )
    assert said in refused(settings(source=source, path=str(path.parent)))


@pytest.mark.parametrize(
    ("name", "column"),
    [("ratings.csv", "userId"), ("ratings.csv", "rating"), ("movies.csv", "title"), ("movies.csv", "genres")],
)
def test_a_column_that_is_there_twice_is_refused(settings, write, name, column):
    path = write("ml-25m") / name
    header, *lines = path.read_text().rstrip("\n").split("\n")
    path.write_text("\n".join([f"{header},{column}", *(f"{line},1" for line in lines)]))
    said = f"{path}, line 1: the column {column} is there 2 times: remove or rename all but one"
    assert said in refused(settings(source="ml-25m", path=str(path.parent)))


@pytest.mark.parametrize("source", SOURCES)
def test_a_film_that_is_listed_twice_is_refused(settings, write, source):
    path = next(file for file in write(source).iterdir() if file.name in ("movies.csv", "movies.dat", "u.item"))
    lines = path.read_text(encoding="latin-1").rstrip("\n").split("\n")
    first = 2 if "csv" in path.name else 1
    path.write_text("\n".join([*lines, lines[first].replace("(199", "(188")]) + "\n", encoding="latin-1")
    message = refused(settings(source=source, path=str(path.parent)))
    assert f"{path}, line {len(lines) + 1}: film 17 has a title in line {first + 1} already, 'Pel" in message


def test_titles_that_look_like_numbers_stay_text(settings, write):
    titles = dict(
        zip(range(7, 97, 10), ["1984", "01984", "1984.0", "True", "NA", "nan", "", "1e3", "0x10"], strict=True)
    )
    found = prepared(settings(source="ml-25m", path=str(write("ml-25m", titles=titles)), movies=9))
    assert found.titles.tolist() == list(titles.values())


@pytest.mark.parametrize("name", ["ratings.csv", "movies.csv"])
@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf16_is_told_of(settings, write, name, mark):
    path = write("ml-25m") / name
    path.write_bytes(mark + path.read_text().encode("utf-16-le" if mark == b"\xff\xfe" else "utf-16-be"))
    assert f"{path} is UTF-16: save it as UTF-8" in refused(settings(source="ml-25m", path=str(path.parent)))


def test_users_below_the_threshold_only(settings, write):
    message = refused(settings(source="ml-1m", path=str(write("ml-1m")), min_positives=20))
    assert "no user has 20 ratings of 4 or more, the maximum is" in message
    assert "lower data.min_positives" in message


def test_too_few_films(settings, write):
    message = refused(settings(source="ml-1m", path=str(write("ml-1m")), movies=300))
    assert "rated 9 films well, fewer than data.movies=300: lower it" in message


def test_an_empty_file(settings, write):
    assert "has no ratings" in refused(settings(source="ml-25m", path=str(write("ml-25m", rows=[]))))
    for source, name in (("ml-25m", "ratings.csv"), ("ml-1m", "movies.dat")):
        path = write(source) / name
        path.write_bytes(b"")
        assert f"{path} is empty" in refused(settings(source=source, path=str(path.parent)))


def test_titles_in_another_form_are_refused(settings, write):
    folder = write("ml-1m")
    (folder / "movies.dat").write_text("movieId\ttitle\n")
    assert "movies.dat: 1 fields in the first line" in refused(settings(source="ml-1m", path=str(folder)))
    for wrong in ("\u00b2,Two,Drama", "eight", '"9"'):
        folder = write("ml-25m")
        with (folder / "movies.csv").open("a") as file:
            file.write(f"\n{wrong}\n")
        message = refused(settings(source="ml-25m", path=str(folder)))
        assert f"movies.csv, line 12: {wrong!r} is not a film and its title" in message
    folder = write("ml-1m", titles={7: "One"})
    assert "has no title of film 17 (4 are missing)" in refused(settings(source="ml-1m", path=str(folder)))


def test_files_that_are_not_there(settings, tmp_path):
    message = refused(settings(source="ml-25m"))
    for words in (
        f"{tmp_path}/data/movielens/ml-25m/ratings.csv does not exist",
        "make data DATASETS=movielens MOVIELENS=ml-25m",
        "data.source=latent_factors",
        "files.grouplens.org/datasets/movielens/ml-25m.zip",
    ):
        assert words in message


def test_made_ratings_follow_their_genres(settings):
    found = prepared(settings(min_positives=2, movies=12, made=settings().made))
    assert found.matrix.shape[1] == 12
    assert found.titles[0].startswith("Film ")
    assert found.titles[0].endswith(f"({found.genres[0]})")
    assert found.genres[0].startswith("genre ")
    assert np.array_equal(found.matrix, prepared(settings(min_positives=2, movies=12)).matrix)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("apart", [2**32, 2**40, 2**53, 2**61])
def test_users_and_films_far_apart_stay_apart(settings, write, ratings, source, apart):
    titles = {10 * film + 7: str(film) for film in range(9)}
    expected = prepared(settings(source=source, path=str(write(source, titles=titles))))

    def far(number):  # 1 and 2 become two numbers that are equal in 32 bits, or in a double
        return number if number % 2 else apart + number - 1

    rows = sorted((far(user), far(movie), stars) for user, movie, stars in ratings)
    moved = write(source, rows=rows, titles={far(movie): title for movie, title in titles.items()})
    found = prepared(settings(source=source, path=str(moved)))
    assert found.matrix.sum() == expected.matrix.sum()
    assert sorted(found.titles.tolist()) == sorted(expected.titles.tolist())
    assert sorted(map(tuple, found.matrix.tolist())) == sorted(map(tuple, expected.matrix.tolist()))


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize(
    ("large", "said"),
    [
        (2**53 + 1, "a userId is not a whole number below 2^64 (invalid literal for int() with base 10: '3.0')"),
        (2**63 + 1, ", line 12: '3.0,7,5.0,963' is not userId, movieId, rating"),
        (2**64 - 1, ", line 12: '3.0,7,5.0,963' is not userId, movieId, rating"),
        (2**64 + 1, "is not userId, movieId, rating"),
    ],
)
def test_large_numbers_are_exact_even_next_to_one_with_a_point(settings, write, large, said):
    rows = [(user, film, 5.0) for user in (large, large - 1, 3) for film in range(7, 57, 10)]
    path = write("ml-25m", rows=rows) / "ratings.csv"
    if large < 2**64:
        assert len(prepared(settings(source="ml-25m", path=str(path.parent))).matrix) == 3
    path.write_text(path.read_text().replace("\n3,7,", "\n3.0,7,"))
    assert said in refused(settings(source="ml-25m", path=str(path.parent)))


def test_marks_quotes_newlines_and_spaces_change_nothing(settings, write):
    def spoilt(content, change):
        return change(content.decode("utf-8")).encode("utf-8")

    expected = prepared(settings(source="ml-25m", path=str(write("ml-25m"))))
    for change in (
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "\ufeff" + text.replace("Id", 'Id"').replace("userId", '"userId').replace("movieId", '"movieId'),
        lambda text: text.replace("movieId", " movieId "),
        lambda text: text.replace("\n", "\n\n").removesuffix("\n\n"),
    ):
        folder = write("ml-25m")
        for name in ("ratings.csv", "movies.csv"):
            (folder / name).write_bytes(spoilt((folder / name).read_bytes(), change))
        found = prepared(settings(source="ml-25m", path=str(folder)))
        assert np.array_equal(found.matrix, expected.matrix)
        assert found.titles.tolist() == expected.titles.tolist()
        assert found.remark == ""


@pytest.mark.parametrize("source", ["ml-1m", "ml-100k"])
def test_a_byte_order_mark_before_files_without_a_header(settings, write, source):
    folder = write(source, encoding="utf-8")
    expected = prepared(settings(source=source, path=str(folder)))
    for path in folder.iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    found = prepared(settings(source=source, path=str(folder)))
    assert np.array_equal(found.matrix, expected.matrix)
    assert found.titles[0] == "Película 0, The (1990)"


def test_lines_of_titles_end_at_newlines_only(settings, write):
    odd = ["a\u2028b", "a\x0cb", "a\nb, c", 'a "b" c', "a\x1cb", "a\x85b", "a\u2029b", "a\x0bb", "last"]
    folder = write("ml-25m", titles={10 * film + 7: title.replace('"', '""') for film, title in enumerate(odd)})
    assert prepared(settings(source="ml-25m", path=str(folder))).titles.tolist() == odd[:5]
    path = folder / "movies.csv"
    path.write_bytes(path.read_bytes().replace("a\u2028b".encode(), b"So\x85 \xe9"))
    found = prepared(settings(source="ml-25m", path=str(folder)))
    assert found.titles[0] == "So… é"
    assert "is not UTF-8: its titles were read as Latin-1 (Windows-1252)" in found.remark


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("17,The Good, the Bad,Drama", "line 3: 4 fields where the first line has 3: quote a title that has commas"),
        ('17,"Unclosed,Drama', "line 3: the quotes do not match"),
        ('17,"Closed" too early,Drama', "line 3: the quotes do not match"),
    ],
)
def test_a_title_that_would_be_cut_or_swallow_others_is_refused(settings, write, line, said):
    path = write("ml-25m") / "movies.csv"
    lines = path.read_text().split("\n")
    lines[2] = line
    path.write_text("\n".join(lines))
    assert f"{path}, {said}" in refused(settings(source="ml-25m", path=str(path.parent)))


def test_a_comma_after_every_line_shifts_no_column(settings, write):
    path = write("ml-25m") / "ratings.csv"
    header, *lines = path.read_text().rstrip("\n").split("\n")
    expected = prepared(settings(source="ml-25m", path=str(path.parent)))
    path.write_text("\n".join([header, *(f"{line}," for line in lines)]))
    assert np.array_equal(prepared(settings(source="ml-25m", path=str(path.parent))).matrix, expected.matrix)
    path.write_text("\n".join([header, *(line.replace(".0,", ",5,") for line in lines)]))  # 4,5 stars for 4.5
    message = refused(settings(source="ml-25m", path=str(path.parent)))
    assert (
        ", line 2: '1,7,5,5,961' is not userId, movieId, rating, timestamp, separated by commas in numbers" in message
    )


def test_a_comma_after_a_title_and_a_decimal_place_of_a_film_change_nothing(settings, write):
    path = write("ml-25m") / "movies.csv"
    header, *lines = path.read_text().rstrip("\n").split("\n")
    expected = prepared(settings(source="ml-25m", path=str(path.parent)))
    path.write_text("\n".join([header, *(f"{line.replace(',', '.0,', 1)},, " for line in lines)]))
    found = prepared(settings(source="ml-25m", path=str(path.parent)))
    assert (found.titles.tolist(), found.genres.tolist()) == (expected.titles.tolist(), expected.genres.tolist())
    path.write_text("\n".join([header, lines[0].replace(",", ".5,", 1), *lines[1:]]))
    assert "movies.csv, line 2: '7.5," in refused(settings(source="ml-25m", path=str(path.parent)))


def test_columns_of_titles_are_found_by_name(settings, write):
    path = write("ml-25m") / "movies.csv"
    lines = [f"1999,{line}" for line in path.read_text().rstrip("\n").split("\n")]
    path.write_text("\n".join(["year" + lines[0].removeprefix("1999"), *lines[1:]]))
    found = prepared(settings(source="ml-25m", path=str(path.parent)))
    assert found.titles[0] == "Película 0, The (1990)"
    assert found.genres[0] == "Drama|Comedy"


@pytest.mark.parametrize("source", ["ml-1m", "ml-100k"])
@pytest.mark.parametrize("place", [0, 4])
def test_a_title_with_the_separator_is_not_cut(settings, write, source, place):
    separator = {"ml-1m": "::", "ml-100k": "|"}[source]
    path = write(source) / {"ml-1m": "movies.dat", "ml-100k": "u.item"}[source]
    lines = path.read_text(encoding="latin-1").split("\n")
    lines[place] = lines[place].replace(", The", f"{separator} The")
    path.write_text("\n".join(lines), encoding="latin-1")
    message = refused(settings(source=source, path=str(path.parent)))
    if (source, place) == ("ml-1m", 0):
        assert f"{path}: 4 fields in the first line, '7::Pel" in message
    else:
        assert f"{path}, line {place + 1 if place else 2}: " in message
        assert f"write a title that has '{separator}' differently" in message


def test_ids_in_no_one_type_are_named_with_their_line(settings, write):
    rows = [(user, 7, 5.0) for user in (2**63 + 1, 1, 2, 3)]
    path = write("ml-25m", rows=rows) / "ratings.csv"
    path.write_text(path.read_text().replace("\n2,7,", "\n\n-2,7,"))
    message = refused(settings(source="ml-25m", path=str(path.parent)))
    assert f"{path}, line 5: '-2,7,5.0,962' is not userId" in message
    assert "ids below 2^64, below 2^63 where one is negative" in message
    path.write_text(path.read_text().replace("-2,7", "2.0,7").replace(str(2**63 + 1), str(2**53 + 1)))
    message = refused(settings(source="ml-25m", path=str(path.parent)))
    assert f"{path}, line 5: a userId is not a whole number below 2^64" in message
