-- Where one submission stands: its user's rank, the field's best, and how many tries came before it.
-- $competition, $problem, $runner, $user, $id, $at
select
    (select struct_pack(rank, submission_id, score) from ranking($competition, $problem, $runner, null, null, true)
        where user_id = $user and runner = $runner) as mine,
    (select struct_pack(users := count(*), best := min(score) filter (not impossible))
        from bests($competition, $problem, $runner, null, null, true) where runner = $runner) as field,
    (select count(distinct submission_id) from entries($competition, $problem, $runner, null, null)
        where user_id = $user and (submitted_at, submission_id) < ($at::timestamptz, $id)) as attempts_before,
    (select min(score) from entries($competition, $problem, $runner, null, null)
        where user_id = $user and runner = $runner and counts and not impossible
            and (submitted_at, submission_id) < ($at::timestamptz, $id)) as best_before
