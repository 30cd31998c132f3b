-- How did the leaders' ranks change? Rank of today's top users at equal steps of the board's life.
-- $competition, $problem, $runner, $since, $until, $flagged, $top, $steps
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- score = best so far (seconds) at that moment. Ranks count all users, by the rule of ranking.sql.
with scored as materialized (
    select user_id, user_name, submitted_at, score
    from entries($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
    where eligible and runner = $runner
),
leaders as (
    select user_id, user_name from ranking($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
    where not impossible
    order by rank, submitted_at, user_id limit $top
),
span as (select epoch(min(submitted_at)) as first, epoch(max(submitted_at)) - epoch(min(submitted_at)) as width from scored),
moments as (
    select step, to_timestamp(first + width * step / $steps) as moment
    from span, unnest(range(1, $steps + 1)) as steps(step)
),
stepped as (
    select user_id, greatest(1, least($steps, ceil($steps * (epoch(submitted_at) - first) / greatest(width, 1e-9))))::bigint as step,
        min(score) as score
    from scored, span group by all
),
grid as (select user_id, step from (select distinct user_id from scored), moments),
standing as (
    select g.user_id, g.step,
        min(s.score) over (partition by g.user_id order by g.step) as score
    from grid g left join stepped s on s.user_id = g.user_id and s.step = g.step
),
ranked as (
    select *, rank() over (partition by step order by score) as rank from standing where score is not null
)
select m.moment as "at", r.user_id, l.user_name, r.rank, r.score
from ranked r
join leaders l on l.user_id = r.user_id
join moments m on m.step = r.step
order by m.moment, r.rank, r.user_id
