import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { z } from 'zod';
import { letRead } from '../server/pages/revised-point.ts';
import { declaredSeries, seriesIn } from '../support/declared-metrics.ts';
import { withDatabase } from '../support/fixture.ts';
import { noPromtool, promtool, promtoolPath } from '../support/promtool.ts';

const { it, sql: reader } = withDatabase({ recorded: true, max: 1 });

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's own placeholder
const datasource = z.object({ type: z.string(), uid: z.literal('${datasource}') });
const dashboard = z.object({
  title: z.string(),
  uid: z.string(),
  schemaVersion: z.number(),
  templating: z.object({
    list: z.array(z.object({ name: z.string(), type: z.string(), query: z.unknown().optional() })),
  }),
  panels: z.array(
    z.object({
      id: z.number(),
      type: z.string(),
      title: z.string(),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
      datasource: datasource.optional(),
      targets: z
        .array(z.object({ datasource, expr: z.string().optional(), rawSql: z.string().optional() }))
        .optional(),
    }),
  ),
});
const read = (file: string) =>
  dashboard.parse(
    JSON.parse(readFileSync(new URL(`../../examples/grafana/${file}`, import.meta.url), 'utf8')),
  );
const overPrometheus = read('prometheus.json');
const overPostgres = read('postgresql.json');
const queriesOf = (board: z.infer<typeof dashboard>) =>
  board.panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));

describe.each([overPrometheus, overPostgres])('the dashboard "$title"', ({ panels, templating }) => {
  it('has panels that do not overlap, each on the selected data source', () => {
    expect(templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource' });
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const one of panels)
      for (const other of panels) {
        if (one.id >= other.id) continue;
        const [a, b] = [one.gridPos, other.gridPos];
        const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
        expect(apart, `${one.title} and ${other.title}`).toBe(true);
        expect(a.x + a.w).toBeLessThanOrEqual(24);
      }
    expect(panels.filter(({ type, targets = [] }) => (targets.length === 0) !== (type === 'row'))).toEqual(
      [],
    );
  });
});

describe('the dashboard over Prometheus', () => {
  const expressions = queriesOf(overPrometheus).map(({ title, expr = '' }) => ({
    title,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$node', '.*'),
  }));

  it('queries only metrics that /metrics declares', () => {
    expect(expressions.length).toBeGreaterThan(20);
    const unknown = expressions.filter(({ expr }) =>
      seriesIn(expr).some((name) => !declaredSeries.has(name)),
    );
    expect(unknown).toEqual([]);
    expect(expressions.filter(({ expr }) => expr === '' || expr.includes('$'))).toEqual([]);
  });

  it.skipIf(!promtoolPath)(`has queries that promtool can parse${noPromtool}`, async () => {
    const scratch = mkdtempSync(join(tmpdir(), 'recorder-grafana-'));
    const check = async (all: readonly string[]) => {
      const rules = all.map((expr, at) => ({ record: `expression_${at}`, expr }));
      writeFileSync(join(scratch, 'rules.yml'), JSON.stringify({ groups: [{ name: 'all', rules }] }));
      return promtool(['check', 'rules', 'rules.yml'], { cwd: scratch });
    };
    try {
      const { code, output } = await check(expressions.map(({ expr }) => expr));
      expect(code, output).toBe(0);
      expect((await check(['max by (node (node_up)'])).code).toBe(1);
    } finally {
      rmSync(scratch, { recursive: true });
    }
  });
});

describe('the dashboard over PostgreSQL', () => {
  beforeAll(async () => {
    await letRead(reader);
    await reader`set role recorder_reader`;
  });

  /** Returns a query as Grafana runs it, over everything that is recorded. */
  const fillVariables = (sql: string, values: Readonly<Record<string, string>>) =>
    Object.entries(values).reduce(
      (text, [name, value]) => text.replaceAll(`$${name}`, value),
      sql
        .replaceAll('$__timeFrom()', `'2026-01-01T00:00:00Z'::timestamptz`)
        .replaceAll('$__timeTo()', 'now()'),
    );

  it('has queries that recorder_reader may run, with rows if there is data', async () => {
    const values: Record<string, string> = {};
    for (const { name, type, query } of overPostgres.templating.list) {
      if (type !== 'query') continue;
      const [first] = await reader.unsafe(fillVariables(z.string().parse(query), values)).values();
      values[name] = String(first?.[0]);
    }
    expect(values).toEqual({
      node: expect.any(String),
      chain: expect.any(String),
      metric: expect.any(String),
    });
    const questions = queriesOf(overPostgres);
    expect(questions.length).toBeGreaterThan(12);
    const empty: string[] = [];
    for (const { title, rawSql = '' } of questions) {
      const sql = fillVariables(rawSql, values);
      expect(sql, title).not.toMatch(/\$|^\s*$/);
      const rows = await reader.unsafe(sql).catch((error: unknown) => expect.fail(`${title}: ${error}`));
      if (rows.length === 0) empty.push(title);
    }
    // The database was recorded without failures of this node, without comparisons and without seals.
    expect(empty).toEqual([
      'Incidents of $node',
      'Gaps in the time range',
      'What sources say differently',
      'Seals',
    ]);
  });
});
