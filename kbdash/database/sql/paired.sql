-- Users with a best on both of two boards of a competition, side by side.
-- $competition, $problem_a, $problem_b, $runner (null: each user's best over the runners), $since, $until, $flagged.
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- Scores in seconds.
with a as (
    select * from ranking($competition, $problem_a, $runner, $since, $until, $flagged, held := $facets) where not impossible
    qualify row_number() over (partition by user_id order by score, submission_id, runner) = 1
),
b as (
    select * from ranking($competition, $problem_b, $runner, $since, $until, $flagged, held := $facets) where not impossible
    qualify row_number() over (partition by user_id order by score, submission_id, runner) = 1
)
select
    a.user_id, a.user_name, a.score as score_a, b.score as score_b, a.rank as rank_a, b.rank as rank_b,
    a.submission_id as submission_a, b.submission_id as submission_b, a.runner as runner_a, b.runner as runner_b
from a join b on b.user_id = a.user_id
order by a.score, a.user_id
limit 2000
