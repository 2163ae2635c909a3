import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { getCatalogue } from '../../../src/reporting/relations/catalogue.ts';
import { listChartSources } from '../../../src/reporting/relations/chart-sources.ts';
import { parseChartRequest } from '../../../src/server/pages/charts/chart-data.ts';
import { UnreadNotice } from '../../../src/server/pages/charts/charts.tsx';
import { drawables } from '../../../src/server/pages/charts/drawables.ts';
import { completeKeys, readTargets } from '../../../src/server/pages/charts/known-values.ts';
import { chartLink } from '../../../src/server/pages/charts/link.ts';
import { readChartLines, withEnds, withGaps } from '../../../src/server/pages/charts/read-lines.ts';
import { withPages } from '../../support/fixture.ts';
import { type PageServer, sendRequest, servePagesOf } from '../../support/page-server.ts';
import { addToDraw, addTooMany, DENSE, dense, first, holder, peak } from './drawn-record.ts';
import { fieldsOf } from './html.ts';
import { type RevisedPoint, revisePoint } from './revised-point.ts';

// A stopped clock: charts are read completely, however slow the machine is.
const now = Date.now();
const {
  it,
  database,
  sql,
  faults: warnings,
  sendRequest: get,
} = withPages({ clock: () => now }, { recorded: true, max: 1 });
let revised: RevisedPoint;

beforeAll(async () => {
  revised = await revisePoint(sql);
  await addToDraw(sql);
});
const plain = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('\u202f', '')
    .replaceAll(/\s+/g, ' ');

describe('a chart', () => {
  it('requests the same moments again by its form', async () => {
    const { chain_id, metric, time_interval } = revised;
    const offsets = { from: 250, to: 500, as_of: 750, beside: 875 };
    const moments = Object.entries(offsets).map(([name, ms]) => [
      name,
      new Date(Date.UTC(2026, 0, 9) + ms).toISOString(),
    ]);
    const parameters = {
      of: 'metric_points',
      chain_id,
      metric,
      time_interval,
      ...Object.fromEntries(moments),
    };
    const fields = fieldsOf((await get(`/charts?${new URLSearchParams(parameters)}`)).body);
    for (const [name = '', at] of moments) expect(new Date(`${fields[name]}Z`).toISOString(), name).toBe(at);
  });

  it('shows a revised point as known then and now, and its files have the same digits', async () => {
    const { chain_id, metric, time_interval, bucket_start: at, was, until, is } = revised;
    const { code, body } = await get(
      chartLink({
        of: 'metric_points',
        selected: { chain_id, metric, time_interval },
        from: at,
        to: new Date(at.getTime() + 1),
        asOf: until.toISOString(),
      }).concat('&beside='),
    );
    expect(code).toBe(200);
    const iso = at.toISOString().slice(0, 16).replace('T', ' ');
    expect(plain(body)).toContain(`${iso} ${was}`);
    const now = await get(
      chartLink({
        of: 'metric_points',
        selected: { chain_id, metric, time_interval },
        from: at,
        to: new Date(at.getTime() + 1),
        asOf: null,
        beside: until.toISOString(),
      }),
    );
    expect(plain(now.body)).toContain(`${iso} ${is} ${was}`);
    const files = [...now.body.matchAll(/href="(\/query\.csv[^"]*)"/g)].map(([, path]) =>
      (path ?? '').replaceAll('&amp;', '&'),
    );
    expect(files).toHaveLength(2);
    const [current, past] = await Promise.all(files.map((path) => get(path)));
    expect(current?.body).toMatch(new RegExp(`,${is}\r\n$`));
    expect(past?.body).toMatch(new RegExp(`,${was}\r\n$`));
  });

  it('has no line without values, and does not draw invalid ones', async () => {
    expect(plain((await get('/charts?metric=txCount,feesPaid')).body)).toContain(
      'Select the values to draw: chain_id, time_interval',
    );
    const { body } = await get('/charts?chain_id=none&metric=txCount&time_interval=day');
    expect(body).toContain('No data in this window');
    expect(plain(body)).toContain('0 points');
  });

  it('reports that there was no record at a moment', async () => {
    const { code, body } = await get(
      '/charts?chain_id=43114&metric=txCount&time_interval=day&as_of=2001-01-01',
    );
    expect(code).toBe(200);
    expect(plain(body)).toContain('there is no record of metric_points at 2001-01-01T00:00:00Z');
  });

  it.each([
    "/charts?of=runs'--",
    '/charts?of=metric_points&column=run_id&chain_id=1&metric=txCount&time_interval=day',
    '/charts?from=2026-01-02&to=2026-01-01',
    '/charts?as_of=2999-01-01',
    '/charts?from=0000-01-01',
    '/charts?from=infinity',
    '/charts?chain_id=%00',
    '/charts?chain_id=1&chain_id=2',
    '/charts?limit=1',
  ])('%s: is refused with the reason', async (path) => {
    expect((await get(path)).code).toBe(400);
    expect(warnings).toEqual([]);
  });

  it('of readings offers the members of the recorded list, and draws the newest if none is selected', async () => {
    const options = (body: string, name: string) =>
      [
        ...(body.split(`<datalist id="${name}-known">`)[1]?.split('</datalist>')[0] ?? '').matchAll(
          /value="([^"]*)"/g,
        ),
      ]
        .map(([, value]) => value)
        .sort();
    for (const [of, list] of [
      ['validator_uptime', 'node_validators'],
      ['peer_readings', 'peers'],
    ] as const) {
      const [target] = await sql<
        { node: string }[]
      >`select node from ${sql(`reporting.${list}`)} order by node limit 1`;
      const node = target?.node ?? '';
      const members = await sql<{ node_id: string }[]>`
        select distinct node_id from ${sql(`reporting.${list}`)} where node = ${node}`;
      expect(members.length).toBeGreaterThan(0);
      const nodeIds = members.map(({ node_id }) => node_id).sort();
      const { code, body } = await get(`/charts?of=${of}&node=${node}`);
      expect(code).toBe(200);
      expect(options(body, 'node_id')).toEqual(nodeIds);
      const first = await get(`/charts?of=${of}`);
      expect(nodeIds).toContain(/name="node_id" value="([^"]*)"/.exec(first.body)?.[1]);
    }
  });

  it('of readings whose list is not polled any more offers its members', async () => {
    const readings = drawables.get('pending_reward_progress');
    if (!readings) throw new Error('progress can be drawn');
    const own = await sql.reserve();
    try {
      await own`begin`;
      await own`delete from recorder.target_datasets where dataset = 'pending_reward_progress'`;
      const offered = await readTargets(own, readings, {});
      const members = await own`select from reporting.pending_rewards group by network, tx_hash, reward_type`;
      expect(offered).toHaveLength(members.length);
    } finally {
      await own`rollback`;
      own.release();
    }
  });

  it('offers targets without a record last, so that the first chart has points', async () => {
    const points = drawables.get('metric_points');
    if (!points) throw new Error('metrics can be drawn');
    const own = await sql.reserve();
    try {
      await own`begin`;
      const [first] = await readTargets(own, points, {});
      // A target that precedes it in the order of the keys.
      const key = 'chainId=0 metric=txCount timeInterval=day';
      await own`insert into recorder.targets (source, target_key, target)
        select source, ${key}, target from recorder.targets where source = 'metric-points' limit 1`;
      await own`insert into recorder.target_datasets (source, target_key, dataset, every_ms, requested_since, active)
        select source, ${key}, dataset, every_ms, requested_since, true from recorder.target_datasets
        where dataset = 'metric_points' limit 1`;
      const targets = await readTargets(own, points, {});
      expect([targets[0], targets.at(-1)?.chain_id]).toEqual([first, '0']);
    } finally {
      await own`rollback`;
      own.release();
    }
  });

  it('shows the previous part with the same lines, whatever distinguishes them', async () => {
    await sql`set time zone 'UTC'`;
    const drawable = drawables.get('node_validators');
    if (!drawable) throw new Error('validators can be drawn');
    const selected = completeKeys({}, await readTargets(sql, drawable, {}), drawable.needed);
    const request = { column: undefined, by: undefined, to: null, as_of: null, beside: null, selected };
    const drawing = parseChartRequest(drawable, { ...request, from: new Date('2026-11-01') }, Date.now());
    const { lines } = await readChartLines(sql, drawing, () => 0);
    const html = renderToString(
      h(UnreadNotice, { drawing, lines, before: new Date(drawing.window[1].getTime() - 1) }),
    );
    const [, link = ''] = /<a href="([^"]*)">Load the earlier points/.exec(html) ?? [];
    const { code, body } = await get(link.replaceAll('&amp;', '&'));
    expect(code).toBe(200);
    expect(lines.length).toBeGreaterThan(1);
    expect(body.match(/data-points=/g)).toHaveLength(lines.length);
    // A page without a read part differs from a part without points.
    const [, to] = drawing.window;
    expect(renderToString(h(UnreadNotice, { drawing, lines: [], before: to }))).toContain(
      `data-unread="${to.getTime()}">Even the newest part`,
    );
  });

  it('accepts a bounded number of objects', async () => {
    const many = Array.from({ length: 900 }, (_, at) => at).join(',');
    const { code, body } = await get(`/charts?chain_id=${many}&metric=${many}&time_interval=${many}`);
    expect(code).toBe(400);
    expect(body).toContain('chain_id: has more than 50 values');
  });

  it.each([
    "/charts?chain_id=');drop table x;--&metric=<b>&time_interval='",
    '/charts?chain_id=43114&metric=txCount&time_interval=day&from=0001-01-01&to=9999-12-31',
    '/charts?chain_id=1,1,1&metric=,&time_interval=day',
  ])('%s: is drawn by its kind', async (path) => {
    const { code, body } = await get(encodeURI(path));
    expect(code).toBe(200);
    expect(body).not.toContain('<b>');
    expect(warnings).toEqual([]);
  });
});

describe('more points than are read for one page', () => {
  let hurried: PageServer;
  beforeAll(async () => {
    await addTooMany(sql);
    // The clock advances a second at each reading: one piece is read for a page.
    let now = Date.now();
    const clock = () => {
      now += 1_000;
      return now;
    };
    hurried = await servePagesOf(database.url, { clock });
  });
  afterAll(() => hurried.close());

  const window = { from: new Date(first), to: new Date(first + DENSE * 1_000) };
  it.each(['now', 'then'])(
    'are drawn from a moment on, with a link to the previous part, as known %s',
    async (when) => {
      const asOf = when === 'now' ? null : revised.until.toISOString();
      let link: string | undefined = chartLink({ of: 'metric_points', selected: dense, ...window, asOf });
      const pages: string[] = [];
      const before: number[] = [];
      while (link !== undefined && pages.length < 10) {
        const { code, body } = await sendRequest(hurried.address + link);
        expect(code).toBe(200);
        pages.push(/data-points="([^"]*)"/.exec(body)?.[1] ?? '');
        const [, unread, rest] =
          /data-unread="(\d+)".*?<a href="([^"]*)">Load the earlier points/s.exec(body) ?? [];
        if (unread !== undefined) before.push(Number(unread));
        link = rest?.replaceAll('&amp;', '&');
      }
      expect(pages.length).toBeGreaterThan(1);
      expect(before).toEqual(before.toSorted((one, other) => other - one));
      const points = pages.flatMap((text) => text.split(' '));
      expect(points).toContain(`${peak.at}=${peak.value}`);
      expect(points.some((point) => point.startsWith(`${first}=`))).toBe(true);
      expect(points.some((point) => point.startsWith(`${first + (DENSE - 1) * 1_000}=`))).toBe(true);
      expect(points.some((point) => point.endsWith('='))).toBe(false);
    },
  );
});

describe('a chart source', () => {
  it('is every series and sample, and more', () => {
    const readings = [...getCatalogue().datasets.values()].filter(
      ({ kind }) => kind === 'series' || kind === 'sample',
    );
    expect([...drawables.keys()]).toEqual(expect.arrayContaining(readings.map(({ now }) => now.name)));
  });

  it('is a dataset of readings without a title, under its name', () => {
    const catalogue = getCatalogue();
    const heights = catalogue.datasets.get('chain_heights');
    if (!heights) throw new Error('the catalogue has no heights');
    const datasets = new Map([
      ...catalogue.datasets,
      ['depths', { ...heights, name: 'depths', now: { ...heights.now, name: 'depths' } }],
    ]);
    expect(listChartSources({ ...catalogue, datasets }).get('depths')).toMatchObject({
      title: 'depths',
      heading: 'More',
      draws: 'line',
    });
  });

  it.each([...drawables.values()].map(({ title, name, values }) => [title, name, values] as const))(
    '%s: returns its chart, with its SQL',
    async (_, of, values) => {
      const columns = values.map(({ name }) => name).slice(0, 4);
      const { code, body } = await get(
        chartLink({ of, columns, selected: {}, from: new Date('2026-11-01') }),
      );
      expect(warnings).toEqual([]);
      expect(code).toBe(200);
      const csv = /href="(\/query\.csv[^"]*)"/.exec(body)?.[1];
      if (csv === undefined) expect(plain(body)).toContain('Select the values to draw');
      else expect((await get(csv.replaceAll('&amp;', '&'))).code).toBe(200);
    },
  );

  it('extends to its end: earlier starts are included, and nothing is drawn in a gap', async () => {
    const parameters = {
      of: 'native_balances',
      selected: holder,
      from: new Date('2026-01-05'),
      to: new Date('2026-02-05'),
    };
    const points = (body: string) => /data-points="([^"]*)"/.exec(body)?.[1]?.split(' ');
    const at = (day: string) => Date.parse(day);
    expect(points((await get(chartLink(parameters))).body)).toEqual([
      `${at('2026-01-05')}=1000000000000000000001`,
      `${at('2026-01-10')}=2000000000000000000002`,
      `${at('2026-01-20')}=`,
      `${at('2026-02-01')}=3000000000000000000003`,
      `${at('2026-02-05')}=3000000000000000000003`,
    ]);
  });

  it('is counted by whole days: a window that starts within a day includes all of it', async () => {
    const [largest] = await sql<{ day: Date; count: number; chain: string }[]>`
      select date_trunc('day', block_timestamp, 'UTC') as day, count(*)::int, min(blockchain_id) as chain
      from reporting.proposed_blocks where blockchain_id = 'c-chain' group by 1 order by 2 desc limit 1`;
    const day = largest?.day.getTime() ?? 0;
    const { body } = await get(
      chartLink({
        of: 'proposed_blocks',
        selected: { network: 'mainnet', blockchain_id: 'c-chain' },
        by: 'day',
        from: new Date(day + 80_000_000),
        to: new Date(day + 80_000_001),
      }),
    );
    const counts = [...body.matchAll(/data-points="([^"]*)"/g)].map(([, text]) => text?.split(' ')[0]);
    expect(counts.map((one) => Number(one?.split('=')[1])).reduce((sum, one) => sum + one, 0)).toBe(
      largest?.count,
    );
    expect(counts[0]).toMatch(new RegExp(`^${day}=`));
  });

  it('is 0 if all is recorded and nothing happened; the past coverage is unknown', async () => {
    const [chain_id, address] = ['counted', '0x00000000000000000000000000000000000000cc'];
    const from = Date.UTC(2026, 8, 1);
    const at = (days: number) => new Date(from + days * 86_400_000);
    const [since] = await sql<{ at: Date }[]>`
      select min(recorded_since) as at from reporting_internal.recorded_since where dataset = 'native_transactions'`;
    const then = since?.at ?? new Date(0);
    const later = new Date(then.getTime() + 1);
    for (const [days, recordedAt] of [
      [0, then],
      [2, then],
      [4, later],
    ] as const)
      await sql`
        insert into recorder.native_transactions (chain_id, address, tx_hash, block_number, block_timestamp, valid_from, run_id)
        select ${chain_id}, ${address}, ${`0x${days}`}, 1, ${at(days)}, ${recordedAt}, min(run_id) from recorder.runs`;
    await sql`
      insert into recorder.coverage (dataset, target_key, axis, covered)
      values ('native_transactions', ${`chainId=${chain_id} address=${address}`}, 'time', int8multirange(int8range(${from}, ${at(6).getTime()})))`;
    const counts = async (asOf: string | null) => {
      const { body } = await get(
        chartLink({
          of: 'native_transactions',
          selected: { chain_id, address },
          by: 'day',
          from: at(0),
          to: at(7),
          asOf,
        }),
      );
      return /data-points="([^"]*)"/.exec(body)?.[1]?.split(' ');
    };
    const day = (days: number, value: string) => `${at(days).getTime()}=${value}`;
    expect(await counts(null)).toEqual([
      ...['1', '0', '1', '0', '1', '0'].map((value, days) => day(days, value)),
      day(6, ''),
    ]);
    expect(await counts(then.toISOString())).toEqual([day(0, '1'), day(1, ''), day(2, '1'), day(3, '')]);
  });

  it('is never 0 for counts that were left out because there are too many', async () => {
    const [chain_id, address] = ['often', '0x00000000000000000000000000000000000000dd'];
    const from = Date.UTC(2026, 0, 1);
    const to = from + 3_000 * 3_600_000;
    await sql`
      insert into recorder.native_transactions (chain_id, address, tx_hash, block_number, block_timestamp, valid_from, run_id)
      select ${chain_id}, ${address}, '0x' || h, 1, ${new Date(from)}::timestamptz + h * interval '1 hour', now(), (select min(run_id) from recorder.runs)
      from generate_series(0, 2999) h`;
    await sql`
      insert into recorder.coverage (dataset, target_key, axis, covered)
      values ('native_transactions', ${`chainId=${chain_id} address=${address}`}, 'time', int8multirange(int8range(${from}, ${to})))`;
    const { body } = await get(
      chartLink({
        of: 'native_transactions',
        selected: { chain_id, address },
        by: 'hour',
        from: new Date(from),
        to: new Date(to),
      }),
    );
    const points = /data-points="([^"]*)"/.exec(body)?.[1]?.split(' ') ?? [];
    expect(points.filter((point) => !point.endsWith('=1'))).toEqual([`${to}=`]);
    expect(points.length, 'some are left out').toBeLessThan(2_002);
  });

  it('of the stake of subnets agrees with the stake of the primary network', async () => {
    const window = sql`'2026-11-20', '2026-11-24'`;
    const [one, other] = [
      await sql`select day, validators, stake_navax, weight, delegated from reporting.subnet_stake_daily(${window}, '11111111111111111111111111111111LpoYY')`,
      await sql`select day, validators, stake as stake_navax, stake as weight, delegated from reporting.stake_daily(${window})`,
    ];
    expect([...one]).toEqual([...other]);
    expect(one.length).toBeGreaterThan(0);
  });

  it.each([
    ['of=node_latency_over_time&as_of=2026-11-21', 'has no history'],
    ['of=stake_daily&chain_id=1', 'chain_id: is not a parameter of this chart; valid parameters: seen_by'],
    ['of=metric_points&by=day', 'by: is not supported for this chart'],
    ['of=proposed_blocks&by=hour&from=1900-01-01', 'by: the window has too many periods'],
    ['of=income&by=hour', 'by: must be one of day, month, year'],
    ['of=peer_versions&column=peers,nothing', 'column: must be one or more of peers'],
    ['of=x_assets', 'of: must be one of'],
  ])('%s: is refused with the reason', async (query, why) => {
    const { code, body } = await get(`/charts?${query}`);
    expect(code).toBe(400);
    expect(plain(body)).toContain(why);
  });
});

describe('a gap', () => {
  it('is drawn if an hour, a day or a month has no count', () => {
    const month = (at: number) => [Date.UTC(2026, at), '1'] as const;
    expect(withEnds([0, 1, 3].map(month), 'month', 0)).toEqual([
      month(0),
      month(1),
      [Date.UTC(2026, 2), null],
      month(3),
      [Date.UTC(2026, 4), null],
    ]);
  });

  const at = (hour: number) => [hour * 3_600_000, String(hour)] as const;
  it('is drawn for a missing point, and nowhere else', () => {
    const points = [0, 1, 2, 5, 6].map(at);
    const drawn = withGaps(points, 3_600_000, 0);
    expect(drawn.map(([, value]) => value)).toEqual(['0', '1', '2', null, '5', '6']);
    expect(withGaps([0, 1, 2, 3].map(at), 3_600_000, 0)).toHaveLength(4);
  });

  it('is not drawn for downsampled points, or a longer interval than the default', () => {
    expect(withGaps([0, 10, 20, 30].map(at), 3_600_000, 36_000_000)).toHaveLength(4);
    expect(withGaps([0, 6, 12, 18, 40].map(at), 3_600_000, 0).map(([, value]) => value)).toEqual([
      '0',
      '6',
      '12',
      '18',
      null,
      '40',
    ]);
  });
});
