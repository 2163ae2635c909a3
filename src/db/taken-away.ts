import type postgres from 'postgres';
import { UsageError } from '../errors.ts';
import { type Dependent, dependentsOf, type ObjectKey } from './dependents.ts';
import {
  type Reads,
  readsOf,
  refuseOtherColumns,
  revokeDefaults,
  type SavedObject,
  saveObjects,
  script,
} from './saved-objects.ts';
import { attempt } from './transaction.ts';

/** A user's object that could not be made again, with the text that made it. */
export interface Displaced {
  readonly identity: string;
  readonly reason: string;
}

/**
 * Views and functions that were dropped, because what they read from has to be made anew, and that are to be made again:
 * the recorder's own by their declarations, those of users here.
 */
export class TakenAway {
  readonly #sql: postgres.Sql;
  readonly #own: ReadonlySet<ObjectKey>;
  readonly #users: (SavedObject & { readonly reads: Reads | undefined })[] = [];

  /** @param own what the recorder made */
  constructor(sql: postgres.Sql, own: ReadonlySet<ObjectKey>) {
    this.#sql = sql;
    this.#own = own;
  }

  /**
   * Drops objects together with all that stands upon them, one by one, each after those that need it.
   * @returns what was dropped
   * @throws UsageError when something among them cannot be made again without loss; nothing is dropped then
   */
  async take(roots: readonly ObjectKey[]): Promise<readonly ObjectKey[]> {
    if (roots.length === 0) return [];
    const affected = await dependentsOf(this.#sql, roots);
    const saved = await saveObjects(
      this.#sql,
      affected.map(({ key }) => key),
    );
    const reads = await readsOf(this.#sql, [...saved.values()]);
    const inTheWay = affected.filter(({ kind }) => kind !== 'view' && kind !== 'routine');
    if (inTheWay.length > 0) throw new UsageError(howToMakeWay(affected, inTheWay, saved));
    for (const { key, kind, identity, description } of affected.toReversed()) {
      const refused = await attempt(this.#sql, `drop ${kind} ${identity}`);
      if (refused)
        throw new UsageError([
          `reporting: ${description} has to be made anew: ${refused.detail ?? refused.message}`,
          'reporting: chain-recorder drops nothing that it cannot make again: drop it, run "chain-recorder migrate", and make it again',
        ]);
      const object = saved.get(key);
      if (object && !this.#own.has(key)) this.#users.push({ ...object, reads: reads.get(object.identity) });
    }
    return affected.map(({ key }) => key);
  }

  /**
   * Makes the users' objects again, with their owners, rights and comments. The text of one that the new version does not
   * allow any more is kept in `reporting.displaced_objects`.
   */
  async putBack(): Promise<Displaced[]> {
    const displaced: Displaced[] = [];
    for (const object of this.#users.toReversed()) {
      const { identity, kind, owner } = object;
      const refused = await attempt(this.#sql, async () => {
        await this.#sql.unsafe([object.create, ...object.comments, ...object.additions].join(';\n'));
        if (object.reads)
          refuseOtherColumns(object.reads, (await readsOf(this.#sql, [object])).get(identity));
        await revokeDefaults(this.#sql, object);
        if (object.grants.length > 0) await this.#sql.unsafe(object.grants.join(';\n'));
      });
      if (!refused) continue;
      displaced.push({ identity, reason: refused.message });
      await this.#sql`
        insert into recorder.displaced_objects (object, kind, owner, script, reason)
        values (${identity}, ${kind}, ${owner}, ${script(object)}, ${refused.message})`;
    }
    return displaced;
  }
}

/** What to do about objects that cannot be dropped and made again, as materialised views, whose making may take hours. */
function howToMakeWay(
  affected: readonly Dependent[],
  inTheWay: readonly Dependent[],
  saved: ReadonlyMap<ObjectKey, SavedObject>,
): string[] {
  const keys = new Set(inTheWay.map(({ key }) => key));
  const first = inTheWay.filter(({ dependsOn }) => !dependsOn.some((key) => keys.has(key)));
  // What stands upon a materialised view has to be dropped with it.
  const stored = new Set<ObjectKey>();
  for (const { key, kind, dependsOn } of affected)
    if (kind === 'materialized view' || dependsOn.some((one) => stored.has(one))) stored.add(key);
  const toDrop = affected.flatMap(({ key }) => (stored.has(key) ? (saved.get(key) ?? []) : []));
  return [
    `reporting: ${first.map(({ description }) => description).join(', ')} depends on what this version changes, and chain-recorder drops nothing of yours that it cannot make again`,
    ...toDrop.toReversed().map(({ kind, identity }) => `before:  drop ${kind} ${identity};`),
    'reporting: nothing was changed: drop it, run "chain-recorder migrate", and make it again',
    ...toDrop.map((object) => `after:   ${script(object).trimEnd()}`),
  ];
}
