-- Every attempt of some users in time order, failures included, with each user's best so far.
-- $competition, $problem, $runner, $since, $until, $flagged, $users (list of user ids), $limit
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- score and best_so_far in seconds. Impossible and (unless $flagged) flagged scores never become a best.
-- When there are more than $limit attempts, new personal bests are kept first, then the latest attempts.
with attempts as (
    select * replace (eligible and ($flagged or not flagged) as eligible)
    from entries($competition, $problem, $runner, $since, $until, true, held := $facets)
    where list_contains($users, user_id)
),
running as (
    select *,
        min(case when eligible then score end) over earlier as previous_best,
        min(case when eligible then score end) over so_far as best_so_far
    from attempts
    window
        so_far as (partition by user_id, runner order by submitted_at, submission_id
            rows between unbounded preceding and current row),
        earlier as (partition by user_id, runner order by submitted_at, submission_id
            rows between unbounded preceding and 1 preceding)
),
marked as (
    select *, eligible and (previous_best is null or score < previous_best) as is_best, count(*) over () as total
    from running
)
select user_id, user_name, runner, submission_id, submitted_at, score, passed, status, best_so_far, is_best, flags, total,
    impossible
from marked
qualify row_number() over (order by is_best desc, submitted_at desc, submission_id desc, runner) <= $limit
order by submitted_at, submission_id, runner
