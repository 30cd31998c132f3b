-- Limits of values, whatever the file holds; used by the views over files.
-- A longer text keeps its start plus a digest, so that different users, problems or runners stay different.
create or replace macro short_text(value) as
case when strlen(value) > 500 and length(value) > 500 then left(value, 480) || '… ' || left(md5(value), 10) else value end;

-- No submission was sent before 1970 or after 2199; Python cannot represent times far outside (BC, past year 9999,
-- infinity).
create or replace macro possible_time(value) as
case when value >= '1970-01-01 00:00:00+00'::timestamptz and value < '2200-01-01 00:00:00+00'::timestamptz then value end;

-- No run takes thirty years. A longer time is stored as infinity, which counts nowhere and is shown as no time: a number
-- near the largest possible one would overflow in smaller units and in ratios.
create or replace macro possible_score(value) as
case when abs(value) >= 1e9 then sign(value) * 'inf'::double else value end;

-- The same for the time of one benchmark shape, in nanoseconds; a time that is not possible becomes null.
create or replace macro possible_ns(value) as case when abs(value) < 1e18 then value end
