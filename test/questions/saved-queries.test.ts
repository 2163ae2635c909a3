import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import postgres from 'postgres';
import { describe, expect } from 'vitest';
import { type ReportOptions, savedQueryCommand } from '../../src/cli/commands/saved-query.ts';
import { printPage } from '../../src/cli/output/print-page.ts';
import type { ReaderQueryResult } from '../../src/db/query-as-reader.ts';
import { rewardParameters } from '../../src/reporting/reports/rewards.ts';
import {
  reports,
  savedQueries,
  savedQueryNamed,
  savedQueryParameters,
  savedQuerySql,
  type Values,
} from '../../src/reporting/reports/saved-queries.ts';
import { runCommand } from '../support/command-line.ts';
import { withDatabase } from '../support/fixture.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

const { it, database } = withDatabase();

function savedQuery(name: string) {
  const found = savedQueryNamed(name);
  if (!found) throw new Error(`no question ${name}`);
  return found;
}

async function runReport(
  name: string,
  options: Partial<ReportOptions> = {},
  defaults: Values = {},
): Promise<string> {
  const out = new PassThrough();
  const app = { databaseUrl: database.url, clock: () => NOW, defaults };
  const allOptions = { param: [], format: 'json', ...options };
  const [printed] = await Promise.all([
    text(out),
    savedQueryCommand(app, savedQuery(name), allOptions, new AbortController().signal, out).finally(() =>
      out.end(),
    ),
  ]);
  return printed;
}

describe('a saved query', () => {
  it('has the parameters of its function, and a report name that is accepted in both spellings', () => {
    const names = savedQueries().flatMap((part) => part.queries.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(30);
    expect(savedQueryNamed('top_chains')).toEqual(savedQueryNamed('top-chains'));
    expect(savedQueryNamed('no-such-thing')).toBeUndefined();
    expect(savedQueryParameters(savedQuery('top-chains')).map(({ name }) => name)).toEqual([
      'from',
      'to',
      'metric',
      'time_interval',
      'most',
      'as_of',
    ]);
  });

  it('becomes a statement with parameters for all values', () => {
    const window = { from: '2026-03-01', to: '2026-03-02T12:30:01+01:00' };
    expect(
      savedQuerySql(savedQuery('metric-total'), { ...window, metric: `'; drop--`, chain_ids: `1,a'b` }),
    ).toBe(
      `select * from reporting.metric_total('2026-03-01T00:00Z', '2026-03-02T11:30:01Z', metric => '''; drop--', chain_ids => array['1', 'a''b'])`,
    );
    expect(savedQuerySql(savedQuery('metric-rules'), {})).toBe('select * from reporting.metric_rules');
  });

  it('reports all errors of its values at once', () => {
    expect(() => savedQuerySql(savedQuery('top-chains'), { from: 'soon', most: '1e9', chain: '1' })).toThrow(
      [
        '--param chain=1: top-chains has no such parameter; there are from, to, metric, time_interval, most, as_of',
        '--from soon: must be a time such as 2026-12-01T02:00',
        '--to …: is required: End of the window, exclusive.',
        '--param metric=…: is required: The metric, such as txCount.',
        '--param most=1e9: must be a whole number',
      ].join('\n'),
    );
  });
});

describe('report NAME', () => {
  it('covers this month up to now by default', async () => {
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    await sql`
      insert into recorder.validators (node, subnet_id, node_id, start_time, weight, valid_from, run_id)
      values ('n', '11111111111111111111111111111111LpoYY', 'NodeID-1', '2026-01-01', 1, '2026-09-01', 1)`;
    await sql.end();
    const days: unknown = JSON.parse(await runReport('stake-daily'));
    expect(days).toHaveLength(20);
    await expect(runReport('stake-daily', { asOf: '2026-11-05' })).rejects.toThrow(
      /^report stake-daily: there is no record of validators yet/,
    );
    expect(JSON.parse(await runReport('stake-daily', { to: '2026-10-03T12:00' }))).toHaveLength(3);
    expect(
      JSON.parse(await runReport('stake-daily', { from: '2026-11-01T23:00', to: '2026-11-03' })),
    ).toHaveLength(2);
  });

  it.each([
    [
      'my-validators',
      ['threshold =&gt; 70', 'upgrade_at =&gt; &#39;2026-12-01T00:00', 'threshold_after =&gt; 95'],
    ],
    ['validator-uptime-seen', ['threshold =&gt; 70']],
  ])('%s uses the configured thresholds, unless --param names others', async (name, configured) => {
    const thresholds = { minUptime: 70, upgradeAt: Date.UTC(2026, 11, 1), minUptimeAfterUpgrade: 95 };
    const page = (options: Partial<ReportOptions>) =>
      runReport(name, { format: 'html', ...options }, rewardParameters(thresholds));
    const printed = await page({});
    for (const parameter of configured) expect(printed).toContain(parameter);
    expect(await page({ param: ['threshold=60'] })).toContain('threshold =&gt; 60');
  });

  it('prints tables and CSV like query', async () => {
    expect(await runReport('l1-changes', { format: 'csv' })).toBe(
      'at,subnet_id,change,before,after,is_l1,blockchains,created_at,tx_hash,on_chain_at\r\n',
    );
    expect(await runReport('metric-rules', { format: 'table' })).toMatch(
      /^metric +unit +over_time +over_chains +reason\n/,
    );
  });

  it('prints a page without scripts and external resources, with every value escaped', async () => {
    const out = new PassThrough();
    const printed = text(out);
    const answer: ReaderQueryResult = {
      columns: [
        { name: '<b>', kind: 'text', type: 25 },
        { name: 'count', kind: 'number', type: 20 },
      ],
      async *rows() {
        yield [JSON.stringify(['<script src="//x">&"</script>', '1']), JSON.stringify([null, '2'])];
      },
    };
    await printPage(answer, { title: 'A & B', about: '<i>', statement: `select '<u>'` }, out);
    out.end();
    const page = await printed;
    expect(page).toMatch(/^<!doctype html>[\s\S]+<\/body><\/html>\n$/);
    expect(page).toContain('<h1>A &amp; B</h1>\n<p>&lt;i&gt;</p>\n');
    expect(page).toContain('<code>select &#39;&lt;u&gt;&#39;</code>');
    expect(page).toContain(`<table>
<tr><th>&lt;b&gt;</th><th class="number">count</th></tr>
<tr><td>&lt;script src=&quot;//x&quot;&gt;&amp;&quot;&lt;/script&gt;</td><td class="number">1</td></tr>
<tr><td></td><td class="number">2</td></tr>
</table>`);
    expect(page).not.toMatch(/<script|<link|src="|url\(|@import/);
    expect(page).toContain('prefers-color-scheme: dark');
    expect(await runReport('l1-changes', { format: 'html' })).toContain(
      '</table></div>\n<p class="soft">No rows.</p>',
    );
  });

  it.each<[string, Partial<ReportOptions>, RegExp]>([
    ['stake-flows', { format: 'xml' }, /--format xml: must be one of table, csv, json, html/],
    ['stake-flows', { from: '2026-11-02', to: '2026-11-02' }, /--from 2026-11-02: must be before --to/],
    ['stake-flows', { from: 'yesterday' }, /--from yesterday: must be a time/],
    ['stake-flows', { asOf: '2027-01-01' }, /--as-of 2027-01-01: is in the future/],
    [
      'stake-flows',
      { node: 'a', month: '2026-11' },
      /--node: is an option of uptime, sla and incident.*\n--month: is an option of sla/,
    ],
    [
      'stake-flows',
      { param: ['seen_by', '=x', 'from=2026-01-01'] },
      /KEY=VALUE\n.*\n.*write --from … instead/,
    ],
    [
      'metric-rules',
      { asOf: '2026-01-01' },
      /--as-of 2026-01-01.*: metric-rules accepts no past moment: what may be summed follows from/,
    ],
    ['metric-rules', { from: '2026-01-01' }, /--from 2026-01-01: metric-rules has no such parameter/],
    ['income', { param: ['by=week'] }, /^report income: by: must be day, month or year, not week/],
  ])('%s with %j is refused', async (name, options, problem) => {
    await expect(runReport(name, options)).rejects.toThrow(problem);
  });

  // `test/reporting/checks/reported-discrepancies.test.ts` runs the two reports without a query.
  it.each(reports().filter(({ name, notAsOf }) => notAsOf !== null && savedQueryNamed(name)))(
    '$name has no past moment, and reports why',
    async ({ name, notAsOf }) => {
      await expect(runReport(name, { asOf: '2026-01-01' })).rejects.toThrow(
        `${name} accepts no past moment: ${notAsOf}`,
      );
    },
  );

  it('runs by name on the command line, and lists all without one', async () => {
    const env = { DATABASE_URL: database.url };
    const listed = await runCommand(['report', '--json'], env, '/');
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    const { reports } = JSON.parse(listed.stdout);
    expect(reports.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['uptime', 'sla', 'top-chains', 'income']),
    );
    expect((await runCommand(['report'], env, '/')).stdout).toMatch(/^report +answers\nuptime /);
  });
});
