create or replace view reporting.run_blocks as
with known as (
  select least((select min(r.run_id) from recorder.runs r) >> 13, (select min(p.run_block) from recorder.packed_runs p)) as first,
    greatest((select max(r.run_id) from recorder.runs r) >> 13, (select max(p.run_block) from recorder.packed_runs p)) as last
)
select b.run_block, least(
    (select min(p.first_at) from recorder.packed_runs p where p.run_block = b.run_block),
    (select r.started_at from recorder.runs r where r.run_id between b.run_block << 13 and (b.run_block << 13) + 8191
      order by r.run_id limit 1)
  ) as began_at
from known, generate_series(known.first, known.last) as b(run_block);

comment on view reporting.run_blocks is 'The blocks of runs, from the first to the last. The number of a run, divided by 8192 and rounded down, is its block; old runs are stored by block, and with a condition on run_block they are found at once.';
comment on column reporting.run_blocks.run_block is 'The block, as in reporting.runs.'; -- bigint
comment on column reporting.run_blocks.began_at is 'When its first run began; null: it has none.'; -- timestamptz
