import { MEMBERS_PER_ROW } from './value-encoding.ts';

/**
 * Builds the CTEs that assign numbers to members. Known members keep their numbers, others get the next ones
 * of the scope. A retired member is not known, because its number may be removed at any time. The last CTE is
 * `numbered` with the suffix, with `n` and `texts`. The CTEs read the CTE `scope` with the same suffix.
 * @param texts a SELECT of `texts`, some of which may be known
 * @param newScope a CTE with a row if this statement inserted the scope, with `next_member` set beyond all
 * members
 */
export function memberNumberCtes({
  suffix,
  texts,
  newScope,
}: {
  readonly suffix: string;
  readonly texts: string;
  readonly newScope?: string;
}): string {
  // A statement cannot update a row that it inserted itself.
  const ofNew = newScope
    ? `\n      union all select u.nth, u.texts from unknown${suffix} u cross join ${newScope}`
    : '';
  return `known${suffix} as materialized (
      -- One index search per member, so that the cost of an observation does not depend on the number of former members. \`offset 0\` prevents a scan of all members.
      select m.n, w.texts from (select distinct texts from (${texts}) named) w cross join lateral (
        select chunk * ${MEMBERS_PER_ROW} + seat - 1 as n from recorder.reading_members
        where scope_id = (select scope_id from scope${suffix}) and texts = w.texts and retired_at is null offset 0) m
    ), unknown${suffix} as materialized (
      select texts, row_number() over (order by texts) - 1 as nth, count(*) over () as count
      from (${texts} except select texts from known${suffix}) strange
    ), counted${suffix} as materialized (
      update recorder.reading_scopes s set next_member = s.next_member + u.count
      from (select max(count) as count from unknown${suffix}) u
      where s.scope_id = (select scope_id from scope${suffix}) and u.count > 0
      returning s.next_member - u.count as first
    ), numbered${suffix} as materialized (
      select n, texts from known${suffix}
      union all
      select c.first + u.nth, u.texts from unknown${suffix} u cross join counted${suffix} c${ofNew}
    )`;
}
