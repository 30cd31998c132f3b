-- How many submissions of a problem match? The same filters as submissions.sql.
-- $competition, $problem, $runner, $since, $until, $users (empty: all), $passed (null: all), $text (null: any), $flagged
select count(*) as total
from entries($competition, $problem, $runner, $since, $until)
where (len($users) = 0 or list_contains($users, user_id))
    and ($passed is null or coalesce(passed, false) = $passed)
    and ($flagged or flags = '')
    and ($text is null or contains(lower(file_name), lower($text)) or contains(lower(user_name), lower($text)))
