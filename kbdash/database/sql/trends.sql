-- How did each of these users get faster? A short best-so-far series per user and runner, for sparklines.
-- $competition, $problem, $runner, $since, $until, $flagged, $users (list of user ids), $points
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- trend: seconds, one value per step in which the user had a score so far; steps are equal parts of the board's span.
with scored as (
    select runner, user_id, epoch(submitted_at) as seconds, score
    from entries($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
    where eligible
),
span as (select runner, min(seconds) as first, greatest(max(seconds) - min(seconds), 1) as width from scored group by runner),
stepped as (
    select s.runner, user_id, least($points - 1, floor($points * (seconds - first) / width))::int as step, min(score) as score
    from scored s join span on span.runner = s.runner
    where user_id in (select unnest($users::varchar[]))
    group by all
),
starts as (select runner, user_id, min(step) as first_step from stepped group by all),
grid as (
    select runner, user_id, unnest(range(first_step, $points)) as step from starts
),
filled as (
    select g.runner, g.user_id, g.step, min(s.score) over (partition by g.runner, g.user_id order by g.step) as score
    from grid g left join stepped s on s.runner = g.runner and s.user_id = g.user_id and s.step = g.step
)
select user_id, runner, list(score order by step) as trend from filled group by user_id, runner
order by runner, user_id
