-- Whose names are similar to a text? Compares only the first 60 characters, so that long names cost little.
-- $competition, $text, $limit. likeness between 0 and 1.
with names as (
    select user_id, coalesce(arg_max(user_name, submitted_at), any_value(user_name)) as user_name
    from submissions_of($competition) group by user_id
)
select user_id, user_name, jaro_winkler_similarity(lower(left(user_name, 60)), lower(left($text, 60))) as likeness
from names
where likeness >= 0.8
order by likeness desc, user_name, user_id
limit $limit
