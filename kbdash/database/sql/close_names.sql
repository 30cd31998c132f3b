-- Which of these names are similar to a text? Compares only the first 60 characters, so that long names cost little.
-- $names, $text, $limit. likeness between 0 and 1.
select name, jaro_winkler_similarity(lower(left(name, 60)), lower(left($text, 60))) as likeness
from (select distinct unnest($names::varchar[]) as name)
where likeness >= 0.8
order by likeness desc, name
limit $limit
