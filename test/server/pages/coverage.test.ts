import { beforeAll, describe, expect } from 'vitest';
import { getCatalogue } from '../../../src/reporting/relations/catalogue.ts';
import { withPages } from '../../support/fixture.ts';
import { holed, makeHoles } from './coverage-hole.ts';
import { linkOf, rowsOf, textOf } from './html.ts';

const DAY = 86_400_000;

const { it, sql, faults, sendRequest } = withPages({}, { recorded: true, max: 1 });
/** The first day of the tested window, ms since 1970: days without records in the database. */
const first = Date.UTC(2026, 2, 1);
const at = (days: number) => new Date(first + days * DAY).toISOString();

beforeAll(async () => {
  await makeHoles(sql, first);
});
const window = new URLSearchParams({ from: at(0), to: at(10), target: holed });
const titles = (html: string) => [...html.matchAll(/<title>(\d{4}-.*?)<\/title>/g)].map(([, title]) => title);

describe('the coverage of a dataset', () => {
  it('shows for each day what is recorded, missing and lost, as a calendar, a strip and a table', async () => {
    const { code, body } = await sendRequest(`/datasets/metric_points/coverage?${window}`);
    expect(code).toBe(200);
    const expected = [
      '2026-03-01: covered',
      '2026-03-02: covered',
      '2026-03-03: partial, 12 h missing, can still be fetched',
      '2026-03-04: covered',
      '2026-03-05: gap, 1 day missing, can still be fetched',
      '2026-03-06: covered',
      '2026-03-07: gap, 1 day permanently missing',
      '2026-03-08: gap, 1 day permanently missing',
      '2026-03-09: covered',
      '2026-03-10: covered',
    ];
    // In a strip, adjacent days without missing parts are drawn together.
    const lacking = expected.filter((words) => words.includes('missing'));
    expect(titles(body)).toEqual([...expected, ...lacking]);
    expect(/<path class="up" d="([^"]*)"/.exec(body)?.[1]?.match(/M/g)).toHaveLength(
      expected.length - lacking.length,
    );
    expect(rowsOf(body).map(([day, state]) => `${day} ${state}`)).toEqual(
      expected.toReversed().map((words) => words.replace(/: (\w+).*/, ' $1')),
    );
    expect(textOf(body)).toContain('10 days: 6 covered, 1 partial, 3 gap.');
    expect(textOf(body)).toContain('the service keeps <90 days');
  });

  it('says that it shows not all ranges of heights, with a link to all', async () => {
    await sql`
      insert into recorder.targets (source, target_key, target) values ('p_blocks', 'node=many', '{"node":"many"}')`;
    await sql`
      insert into recorder.coverage (dataset, target_key, axis, covered)
      select 'p_blocks', 'node=many', 'height', range_agg(int8range(n * 2, n * 2 + 1)) from generate_series(1, 1001) n`;
    const { body } = await sendRequest('/datasets/node_p_blocks/coverage');
    expect(textOf(body)).toMatch(/At most 1.000 ranges are shown; coverage and gaps have all\./);
    for (const view of ['coverage', 'gaps'])
      expect(await sendRequest(linkOf(body, view))).toMatchObject({ code: 200 });
  });

  it('has the command that fixes a gap, whatever its target contains', async () => {
    const { body } = await sendRequest(`/datasets/metric_points/coverage?${window}`);
    const commands = [...body.matchAll(/<code class="command">(.*?)<\/code>/g)].map(([, one = '']) =>
      textOf(one),
    );
    const targets = `--target 'chainId=it'\\''s' --target metric=txCount --target timeInterval=day`;
    expect(commands).toEqual([
      `chain-recorder backfill metric_points --from 2026-03-05T00:00:00Z --to 2026-03-06T00:00:00Z ${targets}`,
      `chain-recorder backfill metric_points --from 2026-03-03T06:00:00Z --to 2026-03-03T18:00:00Z ${targets}`,
    ]);
    expect(body).toContain('chain-recorder heal metric_points');
  });

  it('links to a single day and to one target, and equals the API', async () => {
    const { body } = await sendRequest(`/datasets/metric_points/coverage?${window}`);
    const day = await sendRequest(linkOf(body, '2026-03-05'));
    expect(textOf(day.body)).toContain('1 day: 1 gap.');
    const all = await sendRequest(linkOf(body, 'all targets'));
    expect(all.code).toBe(200);
    expect((await sendRequest(linkOf(all.body, holed))).body).toContain('6 covered, 1 partial, 3 gap');
    const json = JSON.parse((await sendRequest(linkOf(body, 'JSON'))).body);
    expect(
      json.days.map(({ state }: { state: string }) => state).filter((one: string) => one === 'gap'),
    ).toHaveLength(3);
    expect((await sendRequest(linkOf(body, 'CSV'))).body.trim().split('\r\n')).toHaveLength(11);
  });

  it('is linked from the list of all gaps', async () => {
    const gaps = await sendRequest(
      `/datasets/gaps?${new URLSearchParams({ dataset: 'metric_points', target: holed, sort: 'range_start' })}`,
    );
    const { code, body } = await sendRequest(linkOf(gaps.body, 'coverage'));
    expect(code).toBe(200);
    expect(textOf(body)).toContain('--from 2026-03-03T06:00:00Z --to 2026-03-03T18:00:00Z');
  });

  it('exists for every dataset, by day or by height', async () => {
    for (const name of getCatalogue().datasets.keys())
      expect({ name, code: (await sendRequest(`/datasets/${name}/coverage`)).code }).toEqual({
        name,
        code: 200,
      });
    const { body } = await sendRequest('/datasets/node_x_transactions/coverage?as_of=2026-11-01');
    expect(textOf(body)).toContain('From height');
    expect(linkOf(body, 'Rows')).toContain('as_of=');
    expect(faults).toEqual([]);
  });

  it.each([
    ['from=2026-05-02&to=2026-05-01', 400, 'from: must be before the end'],
    ['from=1990-01-01', 400, 'from: must be at most 1100 days before the end'],
    ['to=yesterday', 400, 'to: must be a time'],
    ['nothing=1', 400, 'nothing: is not a known parameter'],
    ['target=1&target=2', 400, 'target: is given more than once'],
    [
      `target=${encodeURIComponent("'; drop table x; --<script>alert(1)</script>")}`,
      200,
      'No matching target',
    ],
    [`after=${encodeURIComponent("zz' or 1=1")}`, 200, 'By target'],
  ])('reports an invalid ?%s', async (query, status, message) => {
    const { code, body } = await sendRequest(`/datasets/metric_points/coverage?${query}`);
    expect(code).toBe(status);
    expect(textOf(body)).toContain(message);
    expect(body).not.toContain('<script>alert');
    expect(faults).toEqual([]);
  });
});
