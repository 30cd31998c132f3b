-- All submissions of a problem, filtered, sorted, one page of them.
-- $competition, $problem, $runner, $since, $until, $users (empty: all), $passed (null: all), $text (null, or part of a
-- file or user name), $flagged, $sort, $descending, $size, $skip,
-- $facets (null, or a bitmap of the rows of the file that hold them).
-- Missing values come last in both directions; ties are broken by time, id and runner.
with matching as (
    select *,
        case $sort when 'score' then if(isnan(score), null, score) when 'submission_id' then submission_id
            when 'submitted_at' then epoch(submitted_at) end as number_key,
        case $sort when 'user_name' then lower(user_name) when 'status' then status when 'mode' then mode when 'file_name' then lower(file_name)
            when 'runner' then runner end as text_key
    from entries($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
    where (len($users) = 0 or list_contains($users, user_id))
        and ($passed is null or counts = $passed)
        and ($text is null or contains(lower(file_name), lower($text)) or contains(lower(user_name), lower($text)))
)
select submission_id, runner, user_name, user_id, submitted_at, status, mode, passed, score, file_name, code_id, flags
from matching
order by
    case when $descending then number_key end desc nulls last,
    case when not $descending then number_key end asc nulls last,
    case when $descending then text_key end desc nulls last,
    case when not $descending then text_key end asc nulls last,
    submitted_at desc, submission_id desc, runner
limit $size offset $skip
