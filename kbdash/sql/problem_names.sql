-- Which problems have rows in a competition? $competition
select problem from submissions
where competition = $competition and problem is not null
group by problem
order by min(leaderboard_id), problem
