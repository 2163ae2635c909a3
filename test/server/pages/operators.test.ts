import { beforeAll, describe, expect } from 'vitest';
import { indented } from '../../../src/server/pages/quarantine.tsx';
import { withPages } from '../../support/fixture.ts';

const job = {
  id: '1',
  state: 'active',
  what: 'poll',
  feed: 'validators',
  target: 'node=<u>',
  attempts: 2,
  most: 8,
  failure: 'it <s>failed</s>',
  at: new Date(),
} as const;
const { it, sql, sendRequest } = withPages(
  {
    queues: {
      readContents: async () => [
        { queue: 'polls', paused: false, refusal: null, counts: [{ state: 'active', jobs: 1 }], jobs: [job] },
      ],
      jobs: async () => [job],
    },
  },
  { max: 1 },
);

beforeAll(async () => {
  await sql`
    insert into recorder.runs (source, target_key, datasets, reason, status, worker, started_at, finished_at, items, rows_written, error)
    select 's', 'node=' || n, array[case n % 2 when 0 then 'validators' else 'p_blocks' end], 'poll',
      case when n % 10 = 0 then 'failed' else 'done' end, 'w', '2026-01-01'::timestamptz + n * interval '1 hour',
      '2026-01-01'::timestamptz + n * interval '1 hour' + case n when 1 then interval '80 ms' else interval '90 s' end, array[n], array[1],
      case when n % 10 = 0 then '<b>no ' || n || '</b>' end
    from generate_series(1, 120) n`;
  await sql`
    insert into recorder.quarantine (dataset, target_key, run_id, quarantined_at, observed_at, last_seen, times, reason, item, digest)
    values ('validators', 'node=1', 7, now(), now(), now(), 3, 'weight: <i>wrong\u202e</i>',
      ${'{"weight":123456789012345678901234567890.10,"name":"<script>\u202e","list":[1,{}]}'}, 'x')`;
  await sql`
    insert into recorder.discrepancies
      (check_name, dataset, subject, at, left_source, left_value, right_source, right_value, tolerance, found_at, ended_at)
    values ('metric_parts', 'metric_points', 'one', now(), 'a', '100', 'b', '125', '0', now(), null),
      ('balances', 'x_balances', 'two', now(), 'a', '1', 'b', '2', '0', now(), now())`;
});
const page = async (path: string) => (await sendRequest(path)).body;
const runsIn = (body: string) => [...body.matchAll(/href="\/runs\/(\d+)"/g)].map(([, run]) => Number(run));
const next = (body: string) =>
  /href="([^"]*)" rel="next"|rel="next" href="([^"]*)"/
    .exec(body)
    ?.slice(1)
    .find(Boolean)
    ?.replaceAll('&amp;', '&');

describe('/runs', () => {
  it('is paged by key from the newest to the oldest, each run once', async () => {
    const seenRuns: number[] = [];
    let path: string | undefined = '/runs';
    for (let pages = 0; path !== undefined && pages < 10; pages += 1) {
      const body = await page(path);
      seenRuns.push(...runsIn(body));
      path = next(body);
    }
    expect(seenRuns).toEqual(Array.from({ length: 120 }, (_, at) => 120 - at));
  });

  it('keeps the filters across pages', async () => {
    const body = await page('/runs?dataset=validators&status=');
    expect(runsIn(body)).toEqual(Array.from({ length: 50 }, (_, at) => 120 - 2 * at));
    expect(runsIn(await page(next(body) ?? ''))).toEqual([20, 18, 16, 14, 12, 10, 8, 6, 4, 2]);
    expect(runsIn(await page('/runs?status=failed&dataset=p_blocks'))).toEqual([]);
    expect(runsIn(await page('/runs?status=failed&before=40'))).toEqual([30, 20, 10]);
  });

  it('has a link to a time', async () => {
    const oldest = await page('/runs?until=2026-01-01T05:00');
    expect(runsIn(oldest)).toEqual([4, 3, 2, 1]);
    expect(oldest).toMatch(/>1 min 30 s<.*>0\.08 s</s);
    expect(runsIn(await page('/runs?until=2025-01-01'))).toEqual([]);
    expect(runsIn(await page('/runs?until=2027-01-01'))[0]).toBe(120);
  });

  it.each([
    ['status=bad', 'status: must be one of running'],
    ['dataset=no', 'dataset: must be the name of a dataset'],
    ["dataset=validators'--", 'dataset: must be the name'],
    ['until=yesterday', 'until: must be a moment such as'],
    ['before=1e9', 'before: must be a whole number'],
    ['before=9999999999999999999', 'before: must be a whole number of at most 18 digits'],
    ['status=done&status=failed', 'status: is given more than once'],
  ])('refuses %s with the allowed values', async (query, message) => {
    expect(await sendRequest(`/runs?${query}`)).toMatchObject({
      code: 400,
      body: expect.stringContaining(message),
    });
  });

  it('shows one run with its error as text', async () => {
    const body = await page('/runs/10');
    expect(body).toContain('&lt;b>no 10&lt;/b>');
    expect(body).toMatch(/1 min 30 s/);
    expect(await sendRequest('/runs/999')).toMatchObject({ code: 404 });
    expect(await sendRequest('/runs/abc')).toMatchObject({ code: 400 });
  });

  it('does not call an unsupported operation failed', async () => {
    await sql`update recorder.runs set status = 'unsupported', error = 'not a validator' where run_id = 11`;
    const body = await page('/runs/11');
    expect(body).toMatch(/<p class="what">The upstream does not offer this data\.<\/p><pre>not a validator/);
    expect(body).not.toContain('The run failed');
  });
});

describe('/quarantine', () => {
  it('lists items, and shows one unchanged, with every digit and no markup', async () => {
    const list = await page('/quarantine?dataset=validators');
    const [, item = ''] = /href="\/quarantine\/(\d+)"/.exec(list) ?? [];
    expect(list).toContain('weight: &lt;i>wrong\\u202e&lt;/i>');
    const body = await page(`/quarantine/${item}`);
    expect(body).toContain('chain-recorder quarantine redrive');
    expect(body).toContain('123456789012345678901234567890.10');
    expect(body).toContain('&lt;script>\\u202e');
    expect(body).not.toMatch(/<script>|\u202e/);
    expect(await page('/quarantine?dataset=p_blocks')).toContain('No matching items.');
  });

  it('indents JSON without changing it', () => {
    expect(indented('{"a": [1,2.50],"b":{"c":"x,{y}:\\""}}')).toBe(
      '{\n  "a": [\n    1,\n    2.50\n  ],\n  "b": {\n    "c": "x,{y}:\\""\n  }\n}',
    );
    for (const broken of ['{"a":[1,', '"open', ']}', 'no json', ''])
      expect(indented(broken).replaceAll(/\s/g, '')).toBe(broken.replaceAll(/\s/g, ''));
  });
});

it('/alerts shows open alerts first, reported before pending ones, and ended ones by pages', async () => {
  await sql`
      insert into recorder.alerts (recorder, rule, subject, severity, state, summary, since, began_at, fired_at, resolved_at, flapping, acknowledged_at, acknowledged_by, note)
      select 'recorder', case n % 2 when 0 then 'node-down' else 'dataset-late' end, '<i>' || n, 'critical',
        case n when 60 then 'pending' when 59 then 'firing' else 'resolved' end, 'it <b>is</b> so ' || n, null,
        '2026-01-01'::timestamptz + n * interval '1 hour', case when n < 60 then '2026-01-01'::timestamptz + n * interval '1 hour' end,
        case when n < 59 then '2026-01-01'::timestamptz + n * interval '2 hour' end, false,
        case n when 59 then now() end, case n when 59 then 'ann' end, case n when 59 then 'on <u>it</u>' end
      from generate_series(1, 60) n`;
  const first = await page('/alerts');
  const summaries = (body: string) =>
    [...body.matchAll(/it &lt;b>is&lt;\/b> so (\d+)/g)].map(([, n]) => Number(n));
  expect(summaries(first)).toEqual([59, 60, ...Array.from({ length: 50 }, (_, at) => 58 - at)]);
  expect(first).toContain('ann: on &lt;u>it&lt;/u>');
  expect(first).not.toContain('<i>5');
  expect(summaries(await page(next(first) ?? ''))).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  const late = await page('/alerts?rule=dataset-late');
  expect(summaries(late).slice(0, 3)).toEqual([59, 57, 55]);
  const rows = await sendRequest('/api/v1/views/alerts?rule=node-down&sort=-id&limit=2');
  expect(
    JSON.parse(rows.body)
      .rows.map(({ id }: { id: string }) => id)
      .map(Number),
  ).toHaveLength(2);
});

it('/discrepancies separates open from ended ones', async () => {
  expect(await page('/discrepancies')).toMatch(/>one<.*25\.?.*>two<|>two<.*>one</s);
  const openPage = await page('/discrepancies?state=open');
  expect(openPage).toContain('>one<');
  expect(openPage).toContain('20.00 %');
  expect(openPage).not.toContain('>two<');
  expect(await page('/discrepancies?check=balances')).not.toContain('>one<');
});

it('/queues shows the data of jobs as text', async () => {
  for (const path of ['/queues', '/queues/polls?state=active']) {
    const body = await page(path);
    expect(body).toContain('it &lt;s>failed&lt;/s>');
    expect(body).toContain('node=&lt;u>');
  }
});
