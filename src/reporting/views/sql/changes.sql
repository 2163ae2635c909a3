create or replace function reporting.changes(
  after text default null, -- The cursor of the last processed change. Null: start with the oldest change that is kept.
  "limit" integer default 1000 -- Maximum number of changes.
)
returns table (
  cursor text, -- Position of the change in the feed, the same for every reader. The next query continues after this position.
  dataset text, -- The dataset.
  change text, -- appeared, revised, returned, left, unwatched, late or observed; for the ledger: turned, unwatched or withdrawn (reporting_internal.change_rows).
  happened_at timestamptz, -- Time from which the change applies: the start of the version, its end, or the time of the reading.
  recorded_at timestamptz, -- Recording time of the change.
  run_id bigint, -- The run that recorded the change. Null: the prober recorded the change.
  version_id uuid, -- The version that started, or the last version if the row left (version_id of the dataset). Null: an interval of the ledger, or a reading whose member was removed.
  key jsonb, -- The key of the row.
  content jsonb -- Values of the row after the change, or before the change if the row left, without its key.
)
language plpgsql stable parallel safe as $$
#variable_conflict use_column
declare
  number bigint := 0;
  read_position integer := 0;
  last_number bigint;
begin
  if "limit" is null or "limit" < 1 then
    raise exception 'limit must be 1 or more' using errcode = 'invalid_parameter_value';
  end if;
  if after is not null then
    if after !~ '^\d{1,18}\.\d{1,9}\.[0-9a-f]{1,16}$' then
      raise exception 'after: % is not the cursor of a change', quote_literal(after) using errcode = 'invalid_parameter_value';
    end if;
    number := split_part(after, '.', 1);
    read_position := split_part(after, '.', 2);
    -- The instant identifies the commit: a database that was reset to an earlier state assigns the same numbers again.
    if not exists (select from reporting.change_commits c
        where c.commit_number = number and split_part(c.cursor, '.', 3) = split_part(after, '.', 3)) then
      if number < (select min(c.commit_number) from reporting.change_commits c) then
        raise exception 'the change % was removed from the feed, and later changes may be removed, too', after
          using errcode = 'invalid_parameter_value', hint = 'Read the current record. Then read the feed from its oldest change: omit the parameter after.';
      end if;
      raise exception 'the change % is not in this database: the database was restored, or reset to an earlier state', after
        using errcode = 'invalid_parameter_value', hint = 'Read the current record. Then read the feed from its oldest change: omit the parameter after.';
    end if;
  end if;
  -- Finds the last commit of the response, so that later commits are not read.
  select max(k.commit_number) into last_number from (
    select c.commit_number, sum(c.changes) over (order by c.commit_number) - c.changes as before from (
      select c.commit_number, c.changes from reporting.change_commits c
      where c.commit_number >= number order by c.commit_number limit "limit"::bigint + 1) c) k
  where k.before < "limit"::bigint + read_position;
  return query
    select r.cursor, r.dataset, r.change, r.happened_at, r.recorded_at, r.run_id, r.version_id, r.key, r.content
    from reporting_internal.change_rows r
    where r.commit_number between number and last_number and (r.commit_number > number or r.position > read_position)
    order by r.commit_number, r.position limit "limit";
end
$$;

comment on function reporting.changes is 'All changes of the recorded data, each once, in the order in which commits became visible. A reader that continues after the last cursor receives every change.';
