import type postgres from 'postgres';
import { UsageError } from '../errors.ts';
import { type Declared, definition, inOrder, signature } from './declared.ts';
import { dependentsOf, type ObjectKey } from './dependents.ts';
import { makeQuestionFunctions } from './question-functions.ts';
import { makeReader } from './reader-role.ts';
import { type Given, revokeDefaults, saveGiven } from './saved-objects.ts';
import { asRows, BODY, NOTE, PLACES, STANDING, WHOLE } from './standing.ts';
import { TakenAway } from './taken-away.ts';
import { attempt, type Refusal, together } from './transaction.ts';

/** An object that an earlier migration made, as it was before this one. */
interface Made {
  readonly key: ObjectKey;
  readonly kind: 'view' | 'function';
  /** Its name in `reporting`; of a function with the types of its parameters. */
  readonly signature: string;
  /** It is not declared any more, and nobody replaced it since it was made. */
  readonly untouched: boolean;
}

/** What stands in the place of a declared object. */
interface Place {
  readonly key: ObjectKey | null;
  /** It is what was declared, and it is noted so. */
  readonly whole: boolean;
  /** An earlier migration made an object of this name. */
  readonly noted: boolean;
}

/** Makes the roles and functions by which `reporting` is read. */
export async function makeReaders(sql: postgres.Sql): Promise<void> {
  await sql.unsafe('create schema if not exists reporting');
  await makeReader(sql);
  await makeQuestionFunctions(sql);
}

/** The schema `reporting` while it is brought to this version. */
export class Reporting {
  readonly #sql: postgres.Sql;
  readonly #declared: readonly Declared[];
  readonly #before: readonly Made[];
  readonly #given: ReadonlyMap<ObjectKey, Given>;
  readonly #taken: TakenAway;

  private constructor(
    sql: postgres.Sql,
    declared: readonly Declared[],
    before: readonly Made[],
    given: ReadonlyMap<ObjectKey, Given>,
    taken: TakenAway,
  ) {
    this.#sql = sql;
    this.#declared = declared;
    this.#before = before;
    this.#given = given;
    this.#taken = taken;
  }

  /** Looks at what earlier migrations made, before anything is changed. */
  static async open(sql: postgres.Sql, declared: readonly Declared[]): Promise<Reporting> {
    const ordered = inOrder(declared);
    const [table] = await sql`select to_regclass('recorder.reporting_objects') as found`;
    if (!table?.found) return new Reporting(sql, ordered, [], new Map(), new TakenAway(sql, new Set()));
    const places = await sql.unsafe<{ key: ObjectKey }[]>(`select s.key ${PLACES} where s.key is not null`, [
      asRows(ordered),
    ]);
    const wanted = places.map(({ key }) => key);
    // Functions were once noted by their name alone. Whether somebody altered what stays is of no account.
    const before = await sql.unsafe<Made[]>(
      `select s.key, s.kind, s.signature,
        s.key <> all (string_to_array($1, ' ')) and coalesce(split_part(o.definition, ' ', 2) = ${BODY}, false) as untouched
      from recorder.reporting_objects o join (${STANDING}) s on o.name = s.signature
        or s.kind = 'function' and o.name = s.name and not exists (
          select from pg_class c where c.relnamespace = to_regnamespace('reporting') and c.relname = o.name)`,
      [wanted.join(' ')],
    );
    const made = new Set(before.map(({ key }) => key));
    const given = await saveGiven(sql, [...made]);
    const own = new Set(wanted.filter((key) => made.has(key)));
    return new Reporting(sql, ordered, before, given, new TakenAway(sql, own));
  }

  /**
   * Drops the views and functions that keep a statement from changing a table. They are made again with everything else.
   * @throws UsageError when one of them cannot be made again without loss
   */
  async makeWay(statement: string): Promise<void> {
    const names = [...statement.matchAll(/\b"?(recorder|reporting)"?\."?(\w+)"?/g)].map(
      ([, schema, name]) => `${schema}.${name}`,
    );
    const rows = await this.#sql<{ key: ObjectKey }[]>`
      select concat('pg_class'::regclass::oid, '/', to_regclass(name)::oid) as key
      from jsonb_array_elements_text(${this.#sql.json(names)}) as name where to_regclass(name) is not null`;
    const affected = await dependentsOf(
      this.#sql,
      rows.map(({ key }) => key),
    );
    await this.#taken.take(affected.filter(({ kind }) => kind !== 'other').map(({ key }) => key));
  }

  /**
   * Makes every object as it is declared. `create or replace` keeps what users built upon it; where columns moved, it is
   * dropped together with what stands upon it, and all of that is made again with its owners, rights and comments.
   * What was declared once and is not any more goes, unless somebody altered it or built upon it.
   * @returns what a person should know, in sentences
   * @throws UsageError when something of a user's stands in the way
   */
  async apply(): Promise<string[]> {
    const rows = asRows(this.#declared);
    const places = await this.#sql.unsafe<Place[]>(
      `select s.key, o.name is not null as noted, ${WHOLE} as whole
      ${PLACES} left join recorder.reporting_objects o on o.name = s.signature order by d.place`,
      [rows],
    );
    const missing = new Set(this.#declared.filter((_, place) => !places[place]?.whole));
    if (!(await this.#makeTogether(places))) await this.#makeEach(places, missing);
    const displaced = await this.#taken.putBack();
    const told = displaced.map(
      ({ identity, reason }) =>
        `${identity} stood upon what has changed and could not be made again (${reason}): its text is in reporting.displaced_objects`,
    );
    if (missing.size > 0) told.push(...(await this.#restoreRights(rows)));
    told.push(...(await this.#retire(rows)));
    if (missing.size > 0)
      await this.#sql.unsafe(
        `insert into recorder.reporting_objects as o (name, definition)
          select s.signature, ${NOTE} ${PLACES}
          on conflict (name) do update set definition = excluded.definition`,
        [asRows([...missing])],
      );
    return told;
  }

  /**
   * Makes all objects by one text, where nothing stands in their places.
   * @returns false: something does, or one is refused; nothing was made
   */
  async #makeTogether(places: readonly Place[]): Promise<boolean> {
    if (places.some(({ key }) => key !== null)) return false;
    return (await attempt(this.#sql, together(this.#declared.map(definition)))) === null;
  }

  /** Makes the missing objects one by one, and those that had to be dropped for them. */
  async #makeEach(places: readonly Place[], missing: Set<Declared>): Promise<void> {
    const byKey = new Map(this.#declared.map((object, place) => [places[place]?.key, object]));
    for (const [place, object] of this.#declared.entries()) {
      if (!missing.has(object)) continue;
      const dropped = await this.#make(object, places[place]?.key ?? null);
      for (const key of dropped) {
        const other = byKey.get(key);
        if (other) missing.add(other);
      }
    }
  }

  /** Makes one object. @param standing what stands in its place @returns what had to be dropped for it */
  async #make(object: Declared, standing: ObjectKey | null): Promise<readonly ObjectKey[]> {
    const name = `reporting.${signature(object)}`;
    if (
      standing !== null &&
      !this.#before.some(({ key }) => key === standing) &&
      (await this.#stands(standing))
    )
      throw new UsageError([
        `${name}: there is ${object.kind === 'view' ? 'a view' : 'a function'} of this name that chain-recorder did not make`,
        RENAME,
      ]);
    const create = definition(object);
    let refused = await attempt(this.#sql, create);
    let dropped: readonly ObjectKey[] = [];
    if (refused && standing !== null && CANNOT_REPLACE.has(refused.code ?? '')) {
      dropped = await this.#taken.take([standing]);
      refused = await attempt(this.#sql, create);
    }
    if (refused) throw inTheWay(name, refused) ?? refused;
    return dropped;
  }

  async #stands(key: ObjectKey): Promise<boolean> {
    const [row] = await this.#sql.unsafe(`select from (${STANDING}) s where s.key = $1`, [key]);
    return row !== undefined;
  }

  /** Objects that were dropped and made again have the rights of before; new ones may be read by the reader. */
  async #restoreRights(rows: string): Promise<string[]> {
    const now = await this.#sql.unsafe<{ key: ObjectKey; kind: string; signature: string }[]>(
      `select s.key, s.kind, s.signature ${PLACES} where s.key is not null`,
      [rows],
    );
    const told: string[] = [];
    const added: string[] = [];
    for (const { key, kind, signature: named } of now) {
      const earlier = this.#before.find((one) => one.kind === kind && one.signature === named);
      if (earlier?.key === key) continue;
      const saved = earlier && this.#given.get(earlier.key);
      if (!saved && kind === 'view') added.push(`reporting.${named}`);
      if (!saved) continue;
      const restoring = [...saved.additions, () => revokeDefaults(this.#sql, saved), ...saved.grants];
      for (const one of restoring) {
        const refused = await attempt(this.#sql, one);
        if (refused)
          told.push(
            `${saved.identity} was made anew, and not all that was given to it could be given again (${refused.message})`,
          );
      }
    }
    if (added.length > 0) await this.#sql.unsafe(`grant select on ${added.join(', ')} to recorder_reader`);
    return told;
  }

  /** Takes away what is not declared any more. */
  async #retire(rows: string): Promise<string[]> {
    const declared = await this.#sql.unsafe<{ signature: string }[]>(
      `select s.signature ${PLACES} where s.key is not null`,
      [rows],
    );
    const wanted = new Set(declared.map((one) => one.signature));
    let retired = this.#before.filter((one) => !wanted.has(one.signature));
    const kept: string[] = [];
    let reasons: string[] = [];
    for (let left = Number.POSITIVE_INFINITY; retired.length < left; ) {
      left = retired.length;
      const standing: Made[] = [];
      reasons = [];
      for (const one of retired.filter(({ untouched }) => untouched)) {
        const refused = await attempt(this.#sql, `drop ${one.kind} if exists reporting.${one.signature}`);
        if (!refused) continue;
        if (!refusedForViews(refused)) throw refused;
        standing.push(one);
        reasons.push(
          `reporting.${one.signature} is not part of this version any more. It stays while something depends on it: ${refused.detail ?? refused.message}`,
        );
      }
      retired = standing;
      kept.splice(0, kept.length, ...standing.map((one) => one.signature));
    }
    await this.#sql`
      delete from recorder.reporting_objects where name <> all (array(
        select jsonb_array_elements_text(${this.#sql.json([...wanted, ...kept])})))`;
    return reasons;
  }
}

/** invalid_table_definition, invalid_function_definition: `create or replace` cannot make this of what stands. */
const CANNOT_REPLACE: ReadonlySet<string> = new Set(['42P16', '42P13']);
/** dependent_objects_still_exist, feature_not_supported: views or functions stand upon what a statement changes. */
const STANDS_UPON: ReadonlySet<string> = new Set(['2BP01', '0A000']);
const RENAME =
  'reporting: chain-recorder drops nothing that it did not make: rename it, and run "chain-recorder migrate"';

/** Whether a statement was refused because of what views or functions read. */
export const refusedForViews = ({ code = '' }: Refusal) => STANDS_UPON.has(code);

/** The words for a user whose own object has the name of one of ours; null for any other refusal. */
function inTheWay(name: string, refused: Refusal): UsageError | null {
  // An object of another kind under the name.
  return refused.code === '42809' ? new UsageError([`${name}: ${refused.message}`, RENAME]) : null;
}
