import type postgres from 'postgres';
import { tableText } from '../../db/orm.ts';
import { runs } from '../../db/schema/bookkeeping.ts';
import { groupBy } from '../../lib/group-by.ts';
import { rowKeySql, type UnmatchedLeaf } from './compare-leaves.ts';
import type { SealForm } from './form.ts';
import { identityOf, leafRowsSql } from './leaves.ts';

/** A difference between the recorded rows and the sealed rows. */
export interface SealDifference {
  readonly dataset: string;
  /** Day (UTC) to which the leaf belongs. */
  readonly day: string;
  /** `row`: the recorded values; `end`: when and how the row ended. */
  readonly of: 'row' | 'end';
  /**
   * `changed`: the leaf has other values. `moved`: the leaf has another instant. `gone`: the leaf is missing.
   * `added`: the leaf was not sealed. `among`: one of the rows of a part was changed; which one is unknown,
   * because all short hashes are unchanged.
   */
  readonly what: 'changed' | 'moved' | 'gone' | 'added' | 'among';
  /**
   * Time at which the row was recorded or ended, in ISO 8601 with microseconds. The sealed value, or the
   * current value for `added`.
   */
  readonly at: string;
  /** Current instant of a leaf that is `moved`; null for all other differences. */
  readonly now: string | null;
  /** The key as JSON; for readings, the run and its target. Null: no row with this key is left. */
  readonly key: string | null;
  /** The first six bytes of the hash of the key, in hexadecimal. */
  readonly id: string;
}

/**
 * Pairs a missing leaf with the leaf that replaced it: `changed` at the same instant, `moved` at another
 * instant.
 */
export function pairLeaves(dataset: string, lone: readonly UnmatchedLeaf[]): SealDifference[] {
  const as = (
    { kind, day, instant, id, key }: UnmatchedLeaf,
    what: SealDifference['what'],
    now: UnmatchedLeaf | null = null,
  ): SealDifference => ({
    dataset,
    day,
    of: kind,
    what,
    at: instant,
    now: now && now.instant !== instant ? now.instant : null,
    key: now?.key ?? key,
    id,
  });
  const unpaired = new Set(lone.filter(({ what }) => what === 'extra'));
  const places = groupBy(unpaired, ({ kind, id }) => `${kind} ${id}`);
  const take = (missing: UnmatchedLeaf, same: boolean) => {
    const found = places
      .get(`${missing.kind} ${missing.id}`)
      ?.find((one) => unpaired.has(one) && (one.instant === missing.instant) === same);
    if (found) unpaired.delete(found);
    return found;
  };
  const missing = lone.filter(({ what }) => what === 'gone');
  const changed = missing.map((one) => ({ one, other: take(one, true) }));
  const differences = changed.map(({ one, other }) => {
    if (other) return as(one, 'changed', other);
    const elsewhere = take(one, false);
    return elsewhere ? as(one, 'moved', elsewhere) : as(one, 'gone');
  });
  return [
    ...differences,
    ...[...unpaired].map((one) => as(one, 'added')),
    ...lone.filter(({ what }) => what === 'among').map((one) => as(one, 'among')),
  ].sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
}

/**
 * Adds the keys of missing rows. The keys are read from other versions of the same rows, or for readings from
 * the runs.
 */
export async function addMissingKeys(
  sql: postgres.Sql,
  form: SealForm,
  differences: readonly SealDifference[],
): Promise<SealDifference[]> {
  const ids = [...new Set(differences.filter(({ key }) => key === null).map(({ id }) => id))];
  if (ids.length === 0) return [...differences];
  const rows = form.unit === 'look' ? tableText(runs) : leafRowsSql(form);
  const found = await sql.unsafe<{ id: string; key: string }[]>(
    `select distinct on (id) encode(${identityOf(form)}, 'hex') as id, ${rowKeySql(form)} as key
    from ${rows} t where encode(${identityOf(form)}, 'hex') = any($1::text::text[])`,
    [`{${ids.join(',')}}`],
  );
  const keys = new Map(found.map(({ id, key }) => [id, key]));
  return differences.map((one) => ({ ...one, key: one.key ?? keys.get(one.id) ?? null }));
}

/** Renders a difference as a sentence. */
export function describeDifference({ dataset, day, of, what, at, now, key, id }: SealDifference): string {
  const whose = key ?? `of a key whose hash starts with ${id}`;
  const was = of === 'row' ? 'recorded' : 'ended';
  const words = {
    changed:
      of === 'row'
        ? 'the row has other values'
        : 'the values of the end, or the start of the row, have changed',
    moved: `the time has changed since the seal: the current time is ${now}`,
    gone: of === 'row' ? 'the row is missing' : 'the end is missing',
    added: of === 'row' ? 'the row was added after the seal' : 'the end was set after the seal',
    among: 'this row, or another row that was sealed together with this row, has other values',
  };
  return `${dataset}, ${day}, ${was} at ${at}: ${whose}: ${words[what]}`;
}
