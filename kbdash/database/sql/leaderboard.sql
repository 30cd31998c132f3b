-- Who is fastest on a problem? One row per user and runner, best first.
-- $competition, $problem, $runner (null: every runner by itself), $since, $until (UTC days), $flagged, $top (null: all),
-- $users (always among the rows), $find (null, or a user: only the places around theirs), $score (null, or seconds: the
-- places next to that time are among the rows), $order (null, or a column; "-" before it: descending),
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- score and gap in seconds; gap = behind the previous rank; ratio = score / best of the runner.
-- submissions = the user's tries on that runner. Missing values come last in every order.
with placed as (
    select *,
        rank_in(problem, runner, impossible, score) as rank,
        gap_in(problem, runner, impossible, score) as gap,
        ratio_in(problem, runner, impossible, score) as ratio,
        place_in(problem, runner, impossible, score, submitted_at, user_id) as place,
        -- Who is faster or equal comes before a time; impossible times come last.
        count(*) filter (not impossible and score <= $score) over (partition by problem, runner) as ahead,
        bool_or(user_id = $find) over (
            partition by problem, runner order by impossible, score, submitted_at, user_id
            rows between 5 preceding and 5 following) as near,
        bool_or(user_id = $find) over () as found
    from bests($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
)
select rank, user_name, user_id, runner, score, gap, ratio, submission_id, submitted_at, submissions, flags
from placed
where case when found then near
        else $top is null or rank <= $top or ($score is not null and place between ahead - 1 and ahead + 2) end
    or list_contains($users, user_id)
order by
    turned(case ltrim($order, '-') when 'rank' then rank when 'score' then score when 'gap' then gap
        when 'ratio' then ratio when 'submissions' then submissions
        when 'submitted_at' then epoch(submitted_at) end, $order) nulls last,
    case $order when 'user_name' then lower(user_name) when 'runner' then runner end nulls last,
    case $order when '-user_name' then lower(user_name) when '-runner' then runner end desc nulls last,
    runner, rank, submitted_at, user_id
