-- People whose name contains a text, or whose id is exactly it. AMD legacy users are anonymous, so they are excluded.
-- $competition, $text, $limit
select $competition as competition, user_id,
    coalesce(arg_max(user_name, submitted_at), any_value(user_name)) as user_name, count(*) as submissions
from submissions_of($competition)
where contains(lower(user_name), lower($text)) or user_id = $text
group by user_id
order by submissions desc, user_id
limit $limit
