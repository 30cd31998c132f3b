-- Which users do these texts mean? Those with such an id or name; names also case-insensitively.
-- $competition, $texts
-- Each user and name once, before they are compared with every text: a leaderboard asks for hundreds.
with people as (
    select user_id, user_name, max(submitted_at) as submitted_at
    from submissions_of($competition)
    group by user_id, user_name
)
select text, user_id, coalesce(arg_max(user_name, submitted_at), any_value(user_name)) as user_name,
    min(case when user_id = text then 'id' when user_name = text then 'name' else 'other case' end) as match
from people, (select unnest($texts::varchar[]) as text)
where user_id = text or lower(user_name) = lower(text)
group by text, user_id
order by text, match, user_id
