import { SEATS } from './value-encoding.ts';

/**
 * The CTEs that number members: those that are known keep their numbers, others get the next ones of the scope. A retired member
 * is not known: its number may be removed, so that nothing more is written under it. The last is
 * `numbered` with its suffix: `n` and `words`. They read the CTE `scope` with the same suffix.
 * @param words a SELECT of `words`, of which some may be known
 * @param made a CTE that has a row where the scope was made by this statement, with room for all members
 */
export function numbering({
  suffix,
  words,
  made,
}: {
  readonly suffix: string;
  readonly words: string;
  readonly made?: string;
}): string {
  // A row cannot be changed in the statement that made it.
  const ofNew = made
    ? `\n      union all select u.nth, u.words from unknown${suffix} u cross join ${made}`
    : '';
  return `known${suffix} as materialized (
      -- One search for each, so that a look costs the same however many came and left before. \`offset 0\` keeps PostgreSQL from reading all.
      select m.n, w.words from (select distinct words from (${words}) named) w cross join lateral (
        select chunk * ${SEATS} + seat - 1 as n from recorder.reading_members
        where scope_id = (select scope_id from scope${suffix}) and words = w.words and retired_at is null offset 0) m
    ), unknown${suffix} as materialized (
      select words, row_number() over (order by words) - 1 as nth, count(*) over () as count
      from (${words} except select words from known${suffix}) strange
    ), counted${suffix} as materialized (
      update recorder.reading_scopes s set next_member = s.next_member + u.count
      from (select max(count) as count from unknown${suffix}) u
      where s.scope_id = (select scope_id from scope${suffix}) and u.count > 0
      returning s.next_member - u.count as first
    ), numbered${suffix} as materialized (
      select n, words from known${suffix}
      union all
      select c.first + u.nth, u.words from unknown${suffix} u cross join counted${suffix} c${ofNew}
    )`;
}
