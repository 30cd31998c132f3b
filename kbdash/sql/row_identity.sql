-- Which submission does a row of a file belong to? $competition, $file, $file_row
select submission_id from submissions_of($competition) where file = $file and file_row = $file_row
