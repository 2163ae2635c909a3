import { readFileSync } from 'node:fs';
import type postgres from 'postgres';
import { UsageError } from '../lib/errors.ts';
import { packageFile } from '../lib/package-file.ts';
import { type Declared, definition, inOrder, REPORTING_SCHEMAS, signature } from './declared.ts';
import { type DependencyRoots, dependentsError, dependentsOf, type ObjectKey } from './dependents.ts';
import { createReaderFunctions } from './reader-functions.ts';
import {
  DECLARED_WITH_EXISTING,
  DEFINITION_DIGEST,
  EXISTING_REPORTING_OBJECTS,
  encodeDeclared,
  IS_UNCHANGED,
  OBJECT_STATE,
} from './schema-state.ts';
import { attempt, joinStatements, type StatementRefusal } from './transaction.ts';

const READER_SQL_FILE = packageFile('drizzle/reader.sql');

/**
 * Creates the role `recorder_reader` if it is missing.
 * @throws the error of PostgreSQL if this user has no permission to create it
 */
async function createReaderRole(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(readFileSync(READER_SQL_FILE, 'utf8'));
}

/**
 * A view or function of `reporting` that an earlier migration created and that the recorder may drop. An
 * object that a user altered and that this version does not declare is not one of these objects.
 */
interface CreatedObject {
  readonly key: ObjectKey;
  /** True if this version declares the object, too. */
  readonly declared: boolean;
}

/** The existing object with the name of a declared object. `key` is null if there is no such object. */
interface ExistingObject {
  readonly key: ObjectKey | null;
  /** True if the existing object equals its declaration. */
  readonly whole: boolean;
  /** True if an earlier migration created an object of this name. */
  readonly noted: boolean;
}

/** Creates the role that reads `reporting`, and the functions that run its queries. */
export async function createReaderObjects(sql: postgres.Sql): Promise<void> {
  for (const schema of REPORTING_SCHEMAS) await sql.unsafe(`create schema if not exists ${schema}`);
  await createReaderRole(sql);
  await createReaderFunctions(sql);
}

/**
 * The objects of `reporting` during a migration to this version. Only objects that the recorder created are
 * dropped, never with `cascade`. The migration is refused if an object of a user depends on one of them.
 */
export class Reporting {
  readonly #sql: postgres.Sql;
  readonly #declared: readonly Declared[];
  readonly #before: readonly CreatedObject[];
  /** Statements that grant the rights of dropped objects again. */
  readonly #grants: string[] = [];

  private constructor(sql: postgres.Sql, declared: readonly Declared[], before: readonly CreatedObject[]) {
    this.#sql = sql;
    this.#declared = declared;
    this.#before = before;
  }

  /** Reads the objects that earlier migrations created, before anything is changed. */
  static async open(sql: postgres.Sql, declared: readonly Declared[]): Promise<Reporting> {
    const ordered = inOrder(declared);
    const [table] = await sql`select to_regclass('recorder.reporting_objects') as found`;
    if (!table?.found) return new Reporting(sql, ordered, []);
    const before = await sql.unsafe<CreatedObject[]>(
      `with declared as (select s.key ${DECLARED_WITH_EXISTING} where s.key is not null)
      select s.key, d.key is not null as declared
      from recorder.reporting_objects o join (${EXISTING_REPORTING_OBJECTS}) s on o.name = s.signature left join declared d on d.key = s.key
      where d.key is not null or split_part(o.definition, ' ', 2) = ${DEFINITION_DIGEST}`,
      [encodeDeclared(ordered)],
    );
    return new Reporting(sql, ordered, before);
  }

  /**
   * Runs a statement of a migration. Drops the recorder's own views and functions that prevent the statement;
   * {@link apply} creates these objects again.
   * @throws UsageError if an object of a user prevents the statement
   */
  async changeTable(statement: string): Promise<void> {
    const refused = await attempt(this.#sql, statement);
    if (!refused) return;
    if (!DEPENDENTS_EXIST.has(refused.code ?? '')) throw refused;
    const names = [...statement.matchAll(/\b"?(recorder|reporting)"?\."?(\w+)"?/g)].map(
      ([, schema, name]) => `${schema}.${name}`,
    );
    const columns = [...statement.matchAll(/\b(?:drop|alter) column (?:if exists )?"?(\w+)"?/gi)];
    const rows = await this.#sql<{ key: ObjectKey }[]>`
      select concat('pg_class'::regclass::oid, '/', to_regclass(name)::oid) as key
      from jsonb_array_elements_text(${this.#sql.json(names)}) as name where to_regclass(name) is not null`;
    const keys = rows.map(({ key }) => key);
    await this.#drop({ keys, columns: columns.map(([, name]) => name ?? '') }, new Set(keys));
    await this.#sql.unsafe(statement);
  }

  /**
   * Creates or replaces every object that differs from its declaration. Drops objects that are no longer
   * declared, unless a user altered them.
   * @returns messages for the operator
   * @throws UsageError if an object of a user prevents a change
   */
  async apply(): Promise<string[]> {
    const rows = encodeDeclared(this.#declared);
    const places = await this.#sql.unsafe<ExistingObject[]>(
      `select s.key, o.name is not null as noted, ${IS_UNCHANGED} as whole
      ${DECLARED_WITH_EXISTING} left join recorder.reporting_objects o on o.name = s.signature order by d.place`,
      [rows],
    );
    const missing = new Set(this.#declared.filter((_, place) => !places[place]?.whole));
    const isEmpty = places.every(({ key }) => key === null);
    if (!isEmpty || (await attempt(this.#sql, joinStatements(this.#declared.map(definition)))))
      await this.#createEach(places, missing);
    const problems = await this.#grantAgain();
    await this.#retire(rows);
    if (missing.size > 0)
      await this.#sql.unsafe(
        `insert into recorder.reporting_objects as o (name, definition)
          select s.signature, ${OBJECT_STATE} ${DECLARED_WITH_EXISTING}
          on conflict (name) do update set definition = excluded.definition`,
        [encodeDeclared([...missing])],
      );
    return problems;
  }

  /** Creates the missing objects one by one, and the objects that had to be dropped for them. */
  async #createEach(places: readonly ExistingObject[], missing: Set<Declared>): Promise<void> {
    const byKey = new Map(this.#declared.map((object, place) => [places[place]?.key, object]));
    for (const [place, object] of this.#declared.entries()) {
      if (!missing.has(object)) continue;
      for (const key of await this.#create(object, places[place])) {
        const other = byKey.get(key);
        if (other) missing.add(other);
      }
    }
  }

  /** Creates or replaces one object. Returns the objects that had to be dropped first. */
  async #create(object: Declared, place: ExistingObject | undefined): Promise<readonly ObjectKey[]> {
    const name = signature(object);
    const key = place?.key ?? null;
    if (key !== null && !place?.noted)
      throw new UsageError([
        `${name}: there is ${object.kind === 'view' ? 'a view' : 'a function'} of this name that chain-recorder did not create`,
        RENAME,
      ]);
    const create = definition(object);
    const refused = await attempt(this.#sql, create);
    if (!refused) return [];
    if (key === null || !REPLACE_REFUSED_CODES.has(refused.code ?? ''))
      throw nameConflictError(name, refused) ?? refused;
    const dropped = await this.#drop({ keys: [key] });
    await this.#sql.unsafe(create);
    return dropped;
  }

  /**
   * Drops the roots and all objects that depend on them, one by one. All of these objects must belong to the
   * recorder.
   * @param kept objects that are not dropped themselves, such as tables
   * @returns the dropped objects
   * @throws UsageError if an object of a user depends on a root
   */
  async #drop(
    roots: DependencyRoots,
    kept: ReadonlySet<ObjectKey> = new Set(),
  ): Promise<readonly ObjectKey[]> {
    const own = new Set(this.#before.map(({ key }) => key));
    const affected = (await dependentsOf(this.#sql, roots)).filter(({ key }) => !kept.has(key));
    const theirs = affected.filter(({ key }) => !own.has(key));
    if (theirs.length > 0) throw dependentsError(theirs);
    for (const { drop, grants } of affected.toReversed()) {
      if (drop !== null) await this.#sql.unsafe(drop);
      this.#grants.push(...grants);
    }
    return affected.map(({ key }) => key);
  }

  /**
   * Grants the rights of dropped objects again. Returns a message for each right that could not be granted.
   */
  async #grantAgain(): Promise<string[]> {
    const problems: string[] = [];
    for (const grant of this.#grants) {
      const refused = await attempt(this.#sql, grant);
      // Objects that this version no longer has need no rights.
      if (refused && !UNDEFINED.has(refused.code ?? ''))
        problems.push(`not granted again: ${grant} (${refused.message})`);
    }
    return problems;
  }

  /** Drops the objects that are no longer declared. */
  async #retire(declared: string): Promise<void> {
    const retired = this.#before.filter((one) => !one.declared).map(({ key }) => key);
    const rows = await this.#sql.unsafe<{ key: ObjectKey }[]>(
      `select s.key from (${EXISTING_REPORTING_OBJECTS}) s where s.key = any (string_to_array($1, ' '))`,
      [retired.join(' ')],
    );
    if (rows.length > 0) await this.#drop({ keys: rows.map(({ key }) => key) });
    await this.#sql.unsafe(
      `delete from recorder.reporting_objects where name <> all (array(select s.signature ${DECLARED_WITH_EXISTING} where s.key is not null))`,
      [declared],
    );
  }
}

/**
 * SQLSTATEs of changes that `create or replace` does not support: invalid_table_definition,
 * invalid_function_definition.
 */
const REPLACE_REFUSED_CODES: ReadonlySet<string> = new Set(['42P16', '42P13']);
/**
 * SQLSTATEs of changes that dependent views or functions prevent: dependent_objects_still_exist,
 * feature_not_supported.
 */
const DEPENDENTS_EXIST: ReadonlySet<string> = new Set(['2BP01', '0A000']);
/** SQLSTATEs of a missing object: undefined_table, undefined_function. */
const UNDEFINED: ReadonlySet<string> = new Set(['42P01', '42883']);
const RENAME =
  'reporting: chain-recorder drops no object that it did not create: rename that object, and run "chain-recorder migrate"';

/**
 * Returns the error for a user's object that has the name of a declared one, or null for any other refusal.
 */
function nameConflictError(name: string, refused: StatementRefusal): UsageError | null {
  // wrong_object_type: the name belongs to an object of another kind.
  return refused.code === '42809' ? new UsageError([`${name}: ${refused.message}`, RENAME]) : null;
}
