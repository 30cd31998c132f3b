-- Timings per benchmark shape of these users' best runs.
-- $competition, $problem, $runner, $since, $until, $flagged, $users (empty: the first $top ranks), $top
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- Times in nanoseconds as the platform logged them; best, worst and std are null where it did not.
-- score in seconds is the geometric mean of the means on boards ranked by it.
with chosen as materialized (
    select rank, user_id, user_name, runner, submission_id, file_row, score
    from ranking($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
    where not impossible and case when len($users) = 0 then rank <= $top else list_contains($users, user_id) end
)
select
    c.rank, c.user_id, c.user_name, c.runner, c.submission_id, c.score, s.shape, s.spec,
    s.mean_ns, s.best_ns, s.worst_ns, s.std_ns, s.runs
from chosen c join shapes_of($competition) s on s.file_row = c.file_row
where s.mean_ns is not null
order by c.rank, c.submission_id, c.runner, s.shape
limit 4000
