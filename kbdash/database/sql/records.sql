-- Who held the record, since when, by how much, for how long?
-- $competition, $problem, $runner, $since, $until, $flagged, $order (null, or a column; "-" before it: descending),
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- score, previous in seconds; gain = share of the previous record saved; until_at null = still standing.
with scored as (
    select runner, user_id, user_name, submission_id, submitted_at, score, flags,
        min(score) over (partition by runner order by submitted_at, score, submission_id
            rows between unbounded preceding and 1 preceding) as previous
    from entries($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
    where eligible
),
-- Of several at the same moment only the fastest counts, so that no two records share a moment.
records as (
    select *, lead(submitted_at) over (partition by runner order by submitted_at) as until_at
    from scored where previous is null or score < previous
),
ends as (
    select max(submitted_at) as last_at from entries($competition, $problem, $runner, $since, $until, true)
)
select
    runner, user_name, user_id, submission_id, submitted_at, score, previous,
    (previous - score) / previous as gain,
    epoch(coalesce(until_at, ends.last_at) - submitted_at) / 86400 as held_days,
    until_at, flags
from records, ends
order by
    turned(case ltrim($order, '-') when 'submitted_at' then epoch(submitted_at) when 'score' then score
        when 'gain' then gain when 'held_days' then held_days end, $order) nulls last,
    case $order when 'user_name' then lower(user_name) end nulls last,
    case $order when '-user_name' then lower(user_name) end desc nulls last,
    runner, submitted_at
