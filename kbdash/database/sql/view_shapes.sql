-- Per-shape timings of the runs of an AMD legacy file: one row per run and benchmark shape, times in nanoseconds.
-- Filled in by kbdash.database.competition_views: {shapes}, {competition}, {location}, {shape_list} (one struct per
-- shape that the file's schema names).
create or replace view {shapes} as
select competition, file_row, unnest(shape)
from (
    select {competition} as competition, file_row_number as file_row, unnest({shape_list}) as shape
    from read_parquet({location}, file_row_number = true)
)
