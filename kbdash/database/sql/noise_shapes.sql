-- How much the timings within one run vary, per benchmark shape: the median over all ranked runs of a board.
-- $competition, $problem, $runner (null: all)
-- ranked_runs = how many logged it; std = standard deviation of one timing as a share of the mean.
-- A shape whose sizes were changed has a row for each.
select s.shape, s.spec, count(*) as ranked_runs, median(s.std_ns / s.mean_ns) as std
from shapes_of($competition) s
join runs_of($competition) r on r.file_row = s.file_row
join counted($competition) c on c.submission_id = r.submission_id and c.runner = r.runner
where c.problem = $problem and ($runner is null or c.runner = $runner)
    and c.eligible and r.ranked and s.mean_ns > 0 and s.std_ns >= 0
group by s.shape, s.spec
order by s.shape, s.spec
