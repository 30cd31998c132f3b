-- People whose name contains a text, or whose id is exactly it. AMD legacy users are anonymous and left out.
-- $competition, $text, $limit
select $competition as competition, user_id, arg_max(user_name, submitted_at) as user_name, count(distinct submission_id) as submissions
from submissions_of($competition)
where contains(lower(user_name), lower($text)) or user_id = $text
group by user_id
order by submissions desc, user_id
limit $limit
