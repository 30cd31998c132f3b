-- Which problems have rows in a competition? $competition
select problem from submissions_of($competition)
where problem is not null
group by problem
order by min(leaderboard_id), problem
