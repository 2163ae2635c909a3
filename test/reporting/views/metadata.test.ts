import { describe, expect } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { typedSchema } from '../../../package/typed-schema.ts';
import { dbtStarters } from '../../../scripts/docs/dbt.ts';
import { dictionaryPages } from '../../../scripts/docs/dictionary.ts';
import { isPublic, qualifiedName } from '../../../src/db/declared.ts';
import { recorded } from '../../../src/reporting/recorded-datasets.ts';
import { getCatalogue } from '../../../src/reporting/relations/catalogue.ts';
import { declaredObjects } from '../../../src/reporting/views/declared-objects.ts';
import { withDatabase } from '../../support/fixture.ts';

const { it, sql } = withDatabase({ recorded: true, max: 2, connection: { TimeZone: 'UTC', jit: 'off' } });

interface Described {
  readonly schema_name: string;
  readonly relation: string;
  readonly column_name: string;
  readonly type: string;
  readonly key_position: number | null;
  readonly role: string;
  readonly nullable: boolean;
  readonly refers_to: string | null;
}
const columns = () =>
  sql<Described[]>`select schema_name, relation, column_name, type, key_position, role, nullable, refers_to
    from reporting.columns order by relation, position`;

describe('reporting.relations and reporting.columns', () => {
  it('describe every public relation and every column, in their order and with their types', async () => {
    const rows = declaredObjects().filter((object) => isPublic(object) && object.columns.length > 0);
    const relations = await sql<{ name: string; grain: string }[]>`
      select schema_name || '.' || relation as name, grain from reporting.relations order by relation`;
    expect(relations.map(({ name }) => name).sort()).toEqual(rows.map(qualifiedName).sort());
    expect(relations.filter(({ grain }) => !/^[A-Z].*\.$/s.test(grain))).toEqual([]);
    const described = new Map<string, string[]>();
    for (const { relation, column_name, type } of await columns())
      described.set(relation, [...(described.get(relation) ?? []), `${column_name} ${type}`]);
    for (const { name, columns: own } of rows)
      expect(described.get(name), name).toEqual(own.map((column) => `${column.name} ${column.type}`));
  });

  it('name keys that distinguish the rows, and columns that are never null', async () => {
    const views = new Set(
      declaredObjects().flatMap((object) => (object.kind === 'view' ? [object.name] : [])),
    );
    const all = (await columns()).filter(({ relation }) => views.has(relation));
    for (const relation of new Set(all.map((one) => one.relation))) {
      const own = all.filter((one) => one.relation === relation);
      const key = own.filter((one) => one.key_position !== null).map((one) => `r.${one.column_name}`);
      const never = own.filter((one) => !one.nullable);
      const from = `${own[0]?.schema_name}.${relation} r`;
      if (key.length > 0) {
        const [counted] = await sql.unsafe<{ rows: number; keys: number }[]>(
          `select count(*)::int as rows, count(distinct (${key.join(', ')}))::int as keys from ${from}`,
        );
        expect(counted?.keys, relation).toBe(counted?.rows);
      }
      if (never.length > 0) {
        const [found] = await sql.unsafe<{ nulls: number }[]>(
          `select count(*)::int as nulls from ${from} where ${never.map((one) => `r.${one.column_name} is null`).join(' or ')}`,
        );
        expect(found?.nulls, relation).toBe(0);
      }
    }
  });

  it('reference columns whose values are unique and include all values, except for removed runs', async () => {
    const views = new Set(
      declaredObjects().flatMap((object) => (object.kind === 'view' ? [object.name] : [])),
    );
    const referring = (await columns()).filter(
      ({ relation, refers_to }) =>
        refers_to !== null && !refers_to.startsWith('runs.') && views.has(relation),
    );
    expect(referring.length).toBeGreaterThan(50);
    for (const { schema_name, relation, column_name, refers_to } of referring) {
      const [target = '', column = ''] = refers_to?.split('.') ?? [];
      const [counted] = await sql.unsafe<{ missing: number; twice: number }[]>(
        `select (select count(*)::int from ${schema_name}.${relation} r where r.${column_name} is not null
            and r.${column_name} not in (select t.${column} from reporting.${target} t where t.${column} is not null)) as missing,
          (select count(*)::int - count(distinct t.${column})::int from reporting.${target} t where t.${column} is not null) as twice`,
      );
      expect(counted, `${relation}.${column_name}`).toEqual({ missing: 0, twice: 0 });
    }
  });
});

const dbtSources = z.object({
  sources: z.tuple([
    z.object({
      tables: z.array(
        z.object({
          name: z.string(),
          columns: z
            .array(z.object({ name: z.string(), data_tests: z.array(z.unknown()).default([]) }))
            .default([]),
        }),
      ),
    }),
  ]),
});

/** Returns the columns of each table of the sources of dbt. */
function dbtTables() {
  const text = dbtStarters().get('reporting/models/sources.yml') ?? '';
  const [{ tables }] = dbtSources.parse(parse(text)).sources;
  return new Map(tables.map(({ name, columns }) => [name, columns]));
}

describe('one declaration of a column', () => {
  it('is in the dictionary, the API, the TypeScript schema and the sources of dbt', () => {
    const pages = dictionaryPages();
    const { declarations } = typedSchema(declaredObjects());
    const sources = dbtTables();
    const { datasets } = getCatalogue();
    for (const { name, relation, history, columns: own } of recorded)
      for (const column of own) {
        const place = `${name}.${column.name}`;
        const camelCase = column.name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
        expect(pages.get(`datasets/${name}.md`), place).toContain(`| \`${column.name}\` |`);
        expect(declarations, place).toContain(`  ${camelCase}: Column<'${relation}', '${column.name}',`);
        const source = sources.get(history === 'sample' ? relation : `${relation}_history`);
        expect(source, place).toContainEqual(expect.objectContaining({ name: column.name }));
        const now = datasets.get(relation)?.now.columns.map((one) => one.name);
        expect(now, place).toContain(column.name);
      }
  });

  it('has the tests of null, uniqueness and reference in its table of the sources of dbt', async () => {
    const all = await columns();
    const hasVersions = new Set(
      all.filter((one) => one.column_name === 'version_id').map((one) => one.relation),
    );
    const tables = [...dbtTables()].filter(([name]) => hasVersions.has(name));
    expect(tables.length).toBe(recorded.length);
    for (const [name, found] of tables)
      expect(found, name).toEqual(
        all
          .filter(({ relation }) => relation === name)
          .map(({ column_name, nullable, refers_to }) => {
            const [, to, field] = /^(chains|nodes)\.(\w+)$/.exec(refers_to ?? '') ?? [];
            const data_tests = [
              ...(nullable ? [] : ['not_null']),
              ...(column_name === 'version_id' ? ['unique'] : []),
              ...(to
                ? [{ relationships: { arguments: { to: `source('reporting', '${to}')`, field } } }]
                : []),
            ];
            return { name: column_name, data_tests };
          }),
      );
  });
});
