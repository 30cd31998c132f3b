-- How are the times spread? Counts in bins of equal width on a log scale, per runner.
-- $competition, $problem, $runner, $since, $until, $flagged, $bins,
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- lo, hi in seconds; rows = passing submissions, users = users whose best lies there; impossible scores excluded.
with scores as (
    select runner, score, 1 as rows, 0 as users
    from entries($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
    where eligible
    union all
    select runner, score, 0, 1
    from bests($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
    where not impossible
),
span as (select ln(min(score)) as low, greatest(ln(max(score)) - ln(min(score)), 1e-9) / $bins as width from scores),
binned as (
    select runner, least($bins - 1, floor((ln(score) - low) / width))::int as bin,
        sum(rows)::bigint as rows, sum(users)::bigint as users
    from scores, span
    group by all
)
select runner, exp(low + bin * width) as lo, exp(low + (bin + 1) * width) as hi, rows, users
from binned, span
order by runner, bin
