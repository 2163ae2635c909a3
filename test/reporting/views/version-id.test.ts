import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { versionIdSql } from '../../../src/datasets/version-id.ts';
import { recorded } from '../../../src/reporting/recorded-datasets.ts';
import { relationSql } from '../../../src/reporting/views/declared-objects.ts';
import { withDatabase } from '../../support/fixture.ts';

const { it, sql } = withDatabase({ recorded: true, max: 2, connection: { TimeZone: 'UTC', jit: 'off' } });

/** The relation with every version of each dataset. */
const versions = recorded.map(({ name, relation, history }) => ({
  name,
  relation,
  history,
  from: history === 'sample' ? relation : `${relation}_history`,
}));
/** Further condition of the versions that rows of a past moment have, by kind of history. */
const CURRENT: Readonly<Record<string, string>> = { series: ' and not vanished', log: '', state: '' };
/** Lists, with the relations that contain them. */
const lists = recorded.flatMap(({ relation, columns }) =>
  columns.flatMap(({ name, element }) => (element ? [{ relation, column: name }] : [])),
);

const versionsOfMoments = versions.filter(({ history }) => history in CURRENT);
const withRows = new Set<string>();

const idsOf = async (from: string) => {
  const rows = await sql.unsafe<{ id: string }[]>(`select version_id::text as id from ${from} order by 1`);
  return rows.map(({ id }) => id);
};

/** Returns the first, the middle and the last start of a version. */
async function momentsOf(history: string): Promise<string[]> {
  const rows = await sql.unsafe<{ at: string }[]>(
    `select distinct unnest(percentile_disc(array[0, 0.5, 1]) within group (order by valid_from))::text as at
    from ${relationSql(history)}`,
  );
  return rows.map(({ at }) => at);
}

describe('a version id', () => {
  it('identifies a version among those of all datasets', async () => {
    const all = (await Promise.all(versions.map(({ from }) => idsOf(relationSql(from))))).flat();
    expect(all.length).toBeGreaterThan(500);
    expect(new Set(all).size).toBe(all.length);
  });

  it.each(versions)(
    'is the same now, in the past and in the history of $name',
    async ({ relation, from }) => {
      const historyIds = new Set(await idsOf(relationSql(from)));
      const now = await idsOf(relationSql(relation));
      expect(now.filter((id) => !historyIds.has(id))).toEqual([]);
      expect(await idsOf(`${relationSql(`${relation}_as_of`)}(now())`)).toEqual(now);
    },
  );

  it.each(versionsOfMoments)(
    'is that of the version of $name at any moment',
    async ({ name, relation, from, history }) => {
      const moments = await momentsOf(from);
      if (moments.length > 0) withRows.add(name);
      for (const at of moments) {
        const then = await idsOf(`${relationSql(`${relation}_as_of`)}('${at}')`);
        const isCurrent = `valid_from <= '${at}' and coalesce(valid_to, 'infinity') > '${at}'${CURRENT[history]}`;
        expect(then).not.toEqual([]);
        expect(then).toEqual(await idsOf(`${relationSql(from)} where ${isCurrent}`));
      }
    },
  );

  it('is compared for most datasets: the template of this database has rows of them', () => {
    expect(withRows.size).toBeGreaterThan(0.85 * new Set(versionsOfMoments.map(({ name }) => name)).size);
  });

  it('does not depend on the settings of a session', async () => {
    const digests = versions
      .map(
        ({ from }) =>
          `select '${from}', md5(string_agg(version_id::text, ' ' order by version_id)) from ${relationSql(from)}`,
      )
      .join(' union all ');
    const digestsBySession = [];
    for (const [zone, style, digits] of [
      ['UTC', 'ISO, MDY', '1'],
      ['America/St_Johns', 'SQL, DMY', '-15'],
      ['Asia/Kathmandu', 'German', '0'],
    ] as const)
      digestsBySession.push(
        await sql.begin(async (tx) => {
          await tx`select set_config('TimeZone', ${zone}, true), set_config('DateStyle', ${style}, true),
            set_config('extra_float_digits', ${digits}, true), set_config('IntervalStyle', 'sql_standard', true)`;
          return tx.unsafe(digests);
        }),
      );
    expect([...(digestsBySession[1] ?? [])]).toEqual([...(digestsBySession[0] ?? [])]);
    expect([...(digestsBySession[2] ?? [])]).toEqual([...(digestsBySession[0] ?? [])]);
  });

  it('differs for every other key and start', async () => {
    const part = fc.oneof(
      fc.constantFrom('', ':', ',', '1:', '0:', '1:a', '11:a'),
      fc.string({ unit: fc.constantFrom('a', 'é', ':', ',', '1', '😀'), maxLength: 4 }),
    );
    const keys = fc.sample(
      fc.tuple(part, part, fc.integer({ min: -2, max: 2 }), fc.integer({ min: 0, max: 3 })),
      { numRuns: 4_000, seed: 45 },
    );
    const rows = {
      name: 'made_up',
      key: ['a', 'b', 'n'],
      columns: [
        { name: 'a', type: 'text', nullable: false },
        { name: 'b', type: 'text', nullable: true },
        { name: 'n', type: 'numeric', nullable: false },
      ],
    };
    const [counted] = await sql.unsafe<{ keys: number; ids: number }[]>(
      `select count(distinct (a, coalesce(b, ''), n, start))::int as keys, count(distinct ${versionIdSql(rows, 'start', (column) => `r.${column}`)})::int as ids
      from (
        select k ->> 0 as a, nullif(k ->> 1, '') as b, (k ->> 2)::numeric + case when random() < 0.5 then 0.000 else 0 end as n,
          timestamptz '2026-11-27' + (k ->> 3)::int * interval '1 microsecond' as start
        from jsonb_array_elements($1::text::jsonb) k) r`,
      [JSON.stringify(keys)],
    );
    expect(counted?.keys).toBeGreaterThan(500);
    expect(counted?.ids).toBe(counted?.keys);
  });

  const filled = new Set<string>();
  it.each(lists)('joins $column to the rows of $relation at any moment', async ({ relation, column }) => {
    for (const at of await momentsOf(`${relation}_history`)) {
      const then = `${relationSql(`${relation}_as_of`)}('${at}')`;
      const joined = await sql.unsafe(
        `select version_id::text, e.position::int from ${relationSql(`${relation}_${column}`)} e
        join ${then} d using (version_id) order by 1, 2`,
      );
      const unpacked = await sql.unsafe(
        `select d.version_id::text, e.position::int from ${then} d
        cross join lateral jsonb_array_elements(case jsonb_typeof(d.${column}) when 'array' then d.${column} end)
          with ordinality as e(value, position) order by 1, 2`,
      );
      expect([...joined]).toEqual([...unpacked]);
      if (joined.length > 0) filled.add(`${relation}.${column}`);
    }
  });

  it('was tested with elements of most lists', () => expect(filled.size).toBeGreaterThan(lists.length / 2));
});
