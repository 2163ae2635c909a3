import { readFileSync } from 'node:fs';
import { beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { fillPlaceholders, statements } from '../docs/documented-statements.ts';
import { letRead } from '../server/pages/revised-point.ts';
import { withDatabase } from '../support/fixture.ts';
import { ODD_ROWS } from '../support/odd-rows.ts';
import { answersByZone, ZONES } from '../support/zones.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

/** Cursor of the change feed of another record. */
const EXAMPLE_CURSOR = /'\d+\.\d+\.[0-9a-f]+'/;

const dashboard = z.object({
  templating: z.object({
    list: z.array(z.object({ name: z.string(), type: z.string(), query: z.unknown().optional() })),
  }),
  panels: z.array(z.object({ targets: z.array(z.object({ rawSql: z.string() })).optional() })),
});

const { it, sql } = withDatabase({ recorded: true, max: 1, connection: { search_path: 'reporting' } });
beforeAll(() => letRead(sql));

async function expectOneAnswer(all: readonly string[], minAnswered: number): Promise<void> {
  const { UTC = [], ...others } = await answersByZone(sql, all, ODD_ROWS);
  const refused = all.filter((_, place) => /^\w*Error: /.test(UTC[place]?.[0] ?? ''));
  expect(refused).toEqual([]);
  expect(UTC.filter((rows) => rows.length > 0).length).toBeGreaterThanOrEqual(minAnswered);
  for (const zone of ZONES.slice(1)) expect(others[zone], zone).toEqual(UTC);
}

it('the SQL of the pages returns the same rows in any session time zone', async () => {
  const documented = statements.map(({ statement }) =>
    fillPlaceholders(statement).replace(EXAMPLE_CURSOR, 'null'),
  );
  await expectOneAnswer(documented, 8);
});

it('the SQL of the dashboard returns the same rows in any session time zone', async () => {
  const { templating, panels } = dashboard.parse(JSON.parse(read('examples/grafana/postgresql.json')));
  const values: Record<string, string> = {};
  const fillVariables = (text: string) =>
    Object.entries(values).reduce(
      (all, [name, value]) => all.replaceAll(`$${name}`, value),
      text
        .replaceAll('$__timeFrom()', `'2026-01-01T00:00:00Z'::timestamptz`)
        .replaceAll('$__timeTo()', `now()`),
    );
  for (const { name, query } of templating.list.filter(({ type }) => type === 'query')) {
    const [first] = await sql.unsafe(fillVariables(z.string().parse(query))).values();
    values[name] = String(first?.[0]);
  }
  const panelStatements = panels.flatMap(({ targets = [] }) =>
    targets.map(({ rawSql }) => fillVariables(rawSql)),
  );
  await expectOneAnswer(panelStatements, 8);
});
