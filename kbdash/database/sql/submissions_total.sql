-- How many submissions of a problem match? The same filters as submissions.sql.
-- $competition, $problem, $runner, $since, $until, $users (empty: all), $passed (null: all), $text (null: any), $flagged,
-- $facets (null, or a bitmap of the rows of the file that hold them)
select count(*) as total
from entries($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
where (len($users) = 0 or list_contains($users, user_id))
    and ($passed is null or counts = $passed)
    and ($text is null or contains(lower(file_name), lower($text)) or contains(lower(user_name), lower($text)))
