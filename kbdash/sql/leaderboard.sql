-- Who is fastest on a problem? One row per user and runner, best first.
-- $competition, $problem, $runner (null: every runner by itself), $since, $until (UTC days), $flagged, $top (null: all)
-- score and gap in seconds; gap = behind the previous rank; ratio = score / best of the runner.
-- submissions = the user's submissions on that runner, and those that never got to run anywhere.
with attempts as (
    select user_id, runner, count(distinct submission_id) as submissions
    from entries($competition, $problem, $runner, $since, $until)
    group by user_id, runner
)
select
    r.rank, r.user_name, r.user_id, r.runner, r.score, r.gap, r.ratio, r.submission_id, r.submitted_at,
    sum(a.submissions)::bigint as submissions,
    r.flags
from ranking($competition, $problem, $runner, $since, $until, $flagged) r
join attempts a on a.user_id = r.user_id and (a.runner = r.runner or a.runner is null)
group by all
having $top is null or r.rank <= $top
order by r.runner, r.rank, r.submitted_at, r.user_id
