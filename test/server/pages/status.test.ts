import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { NodeState } from '../../../src/health/state.ts';
import { slaReport } from '../../../src/reporting/reports/sla.ts';
import { slaPage } from '../../../src/reporting/reports/sla-page.ts';
import { percentText, spanText } from '../../../src/reporting/reports/uptime.ts';
import { Access } from '../../../src/server/access.ts';
import { withDatabase } from '../../support/fixture.ts';
import { type PageServer, sendRequest, servePagesOf } from '../../support/page-server.ts';
import { day, hour, minute, type Observation, secondsIn, write } from './node-states.ts';

const now = Date.UTC(2026, 4, 17, 9, 41);
const TOKEN = 'a-token-of-some-length';
const hostile = '50%/a<b>&"é ☃';

/** A long sequence of states, at whole minutes, always the same. */
function walk(seed: number, from: number): Observation['states'] {
  const states: [number, NodeState][] = [];
  let random = seed;
  const next = (below: number) => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  const choice: readonly NodeState[] = ['up', 'up', 'up', 'up', 'down', 'unknown', 'maintenance'];
  for (let at = from; at < now; at += (1 + next(3_000)) * minute) {
    const state = choice[next(choice.length)] ?? 'up';
    if (states.at(-1)?.[1] !== state) states.push([at, state]);
  }
  return states;
}

const start = now - 120 * day;
const observations: readonly Observation[] = [
  { observer: 'paris', node: 'several', states: walk(7, start), absences: [] },
  {
    observer: 'oslo',
    node: 'several',
    states: walk(8, start),
    absences: [
      [now - 40 * day, now - 39 * day - 5 * hour],
      [now - 3 * hour, now - 2 * hour],
    ],
  },
  { observer: 'rome', node: 'several', states: walk(9, start + 50 * day), absences: [] },
  { observer: 'paris', node: 'young', states: walk(11, now - 20 * day - 77 * minute), absences: [] },
  {
    observer: 'paris',
    node: hostile,
    states: [
      [now - 30 * hour, 'up'],
      [now - 2 * hour, 'down'],
    ],
    absences: [],
    check: { name: 'C<hain>', error: '<script>alert("peers")</script>' },
  },
];

const { it, database, sql } = withDatabase();
let server: PageServer;

/** The pages of the record at a moment, ms since 1970. */
const serveAt = (moment: number) =>
  servePagesOf(database.url, {
    clock: () => moment,
    access: new Access({ host: '0.0.0.0', token: TOKEN, trustedProxies: [], public: ['status'] }),
    site: {
      title: 'Nodes of <Example>',
      text: ['One.', 'Two & three.'],
      logo: null,
      nodes: ['several', 'young', hostile, 'never seen'],
      announced: { once: [{ nodes: ['young'], from: now + hour, to: now + 2 * hour }], recurring: [] },
    },
  });

beforeAll(async () => {
  await write(sql, observations, now);
  server = await serveAt(now);
});
afterAll(async () => {
  await server.close();
});

const get = (path: string) => sendRequest(server.address + path);
/** The part of the status page about a node. */
async function nodeSection(node: string): Promise<string> {
  const { body } = await get('/status');
  const parts = body.split('<article').slice(1);
  return parts.find((part) => part.includes(`>${node}</a></h3>`)) ?? '';
}
const titles = (html: string) => [...html.matchAll(/<title>(.*?)<\/title>/g)].map(([, title]) => title);

describe('/badge', () => {
  const badge = (node: string, query = '') =>
    sendRequest(`${server.address}/badge/${encodeURIComponent(node)}.svg${query}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });

  it('shows the state of a node, and of a node without an observation that there is no record', async () => {
    const { code, headers, body } = await badge(hostile);
    expect(code).toBe(200);
    expect(headers['content-type']).toBe('image/svg+xml');
    expect(body).toContain('<title>50%/a&lt;b>&amp;&quot;é ☃: down</title>');
    expect((await badge('never seen')).body).toContain('<title>never seen: no record</title>');
  });

  it.each([
    ['24h', 1, '24 h'],
    ['7d', 7, '7 d'],
    ['30d', 30, '30 d'],
    ['90d', 90, '90 d'],
  ])('with range=%s never rounds an uptime up', async (range, days, words) => {
    for (const node of ['several', 'young']) {
      const { up, down, unknown } = secondsIn(observations, node, now - days * day, now);
      const share =
        unknown > 0 ? `≥ ${percentText(up / (up + down + unknown))}` : percentText(up / (up + down));
      const expected = up + down === 0 ? 'unknown' : share;
      expect((await badge(node, `?range=${range}`)).body).toContain(
        `<title>${node}: ${expected}, ${words}</title>`,
      );
    }
  });

  it('is refused with a sentence for an invalid node or range, and without the token', async () => {
    expect(await badge('nobody')).toMatchObject({ code: 404 });
    expect(await get('/badge/young')).toMatchObject({ code: 401 });
    const wrong = await badge('young', '?range=1y&range=2y');
    expect(wrong.code).toBe(400);
    expect(wrong.body).toContain('must be one of 24h, 7d, 30d, 90d');
    expect(await badge('young', '?colour=red')).toMatchObject({ code: 400 });
  });
});

describe('/status', () => {
  it.each([
    ['several', ['up', 'down']],
    ['young', ['up', 'down', 'unknown', 'maintenance', 'no record']],
  ])('shows for each day of %s the states counted minute by minute', async (node, states) => {
    const today = now - (now % day);
    const expected = Array.from({ length: 90 }, (_, at) => {
      const from = today - (89 - at) * day;
      const seconds = secondsIn(observations, node, from, Math.min(from + day, now));
      const date = new Date(from).toISOString().slice(0, 10);
      const parts = (['up', 'down', 'maintenance', 'unknown'] as const)
        .filter((state) => seconds[state] > 0)
        .map((state) => `${state} ${spanText(seconds[state])}`);
      if (seconds.none > 0) parts.push(`no record ${spanText(seconds.none)}`);
      return `${date}${from === today ? ' until 09:41' : ''}: ${parts.join(', ')}`;
    });
    expect(titles(await nodeSection(node))).toEqual(expected);
    for (const state of states) expect(expected.some((text) => text.includes(state))).toBe(true);
  });

  it.each(['several', 'young'])('shows the uptime of %s and its bounds over four ranges', async (node) => {
    const html = await nodeSection(node);
    for (const [name, days] of Object.entries({ '24 h': 1, '7 days': 7, '30 days': 30, '90 days': 90 })) {
      const { up, down, unknown } = secondsIn(observations, node, now - days * day, now);
      const [, fact = ''] = html.split(`<dt>Uptime, ${name}</dt><dd>`);
      const share = (part: number, whole: number) => percentText(part / whole);
      const expected = up + down === 0 ? 'unknown' : share(up, up + down);
      expect(fact.slice(0, expected.length)).toBe(expected);
      if (up + down > 0 && unknown > 0)
        expect(fact).toContain(
          `>${share(up, up + down + unknown).replace(' %', '')} to ${share(up + unknown, up + down + unknown)}<`,
        );
    }
  });

  it('agrees with the reports on the majority of several observers', async () => {
    const [row] = await sql<{ uptime: number }[]>`
      select uptime::float8 from reporting.node_quorum(${new Date(now - 90 * day)}, ${new Date(now)})
      where node = 'several' and probe = 'health'`;
    expect(await nodeSection('several')).toContain(
      `<dt>Uptime, 90 days</dt><dd>${percentText(row?.uptime ?? 0)}`,
    );
  });

  it('shows a node that was not observed yet as without a record, and not as up', async () => {
    const html = await nodeSection('never seen');
    expect(html).toContain('no record yet');
    expect(html).not.toMatch(/class="(state good|up)"/);
  });

  it('shows names and messages of nodes unchanged, and runs none of them', async () => {
    const { body } = await get('/status');
    for (const text of [
      '50%/a&lt;b>&amp;&quot;é ☃</a>',
      '&lt;script>alert(&quot;peers&quot;)&lt;/script>',
      '2 of 4 nodes are down',
      '<title>Nodes of &lt;Example></title>',
    ])
      expect(body.includes(text), text).toBe(true);
    expect(/<script(?! type="module")|<b>|<hain>/.exec(body)).toBeNull();
  });

  it('is accessible to all if it is public, without links to private pages', async () => {
    const page = await get('/status');
    expect(page.code).toBe(200);
    expect(page.body).not.toContain('aria-label="Main"');
    expect((await get('/')).code).toBe(401);
  });
});

describe('/status/NODE', () => {
  const path = (node: string, query = '') => `/status/${encodeURIComponent(node)}${query}`;

  it.each([
    ['an hour by the minute', 3 * hour - 17 * minute, 2 * hour - 17 * minute, '1min', minute],
    ['two days by the hour', 41 * day, 39 * day, '1h', hour],
    ['months by the day', 110 * day + 5 * hour, 3 * day, '1d', day],
    ['weeks', 119 * day, 0, '1w', 7 * day],
  ] as const)('shows of %s exactly that range, as counted', async (_, from, to, grain, length) => {
    const text = (ago: number) => new Date(now - ago).toISOString().slice(0, 16);
    const { code, body } = await get(path('several', `?from=${text(from)}&to=${text(to)}&grain=${grain}`));
    expect(code).toBe(200);
    const monday = Date.UTC(2000, 0, 3);
    const labels = [...body.matchAll(/<title>[^<]*: ([^<]*)<\/title>/g)].map(([, label]) => label);
    const expected: string[] = [];
    for (let at = monday + Math.floor((now - from - monday) / length) * length; at < now - to; at += length) {
      const seconds = secondsIn(
        observations,
        'several',
        Math.max(at, now - from),
        Math.min(at + length, now - to),
      );
      expected.push(
        (['up', 'down', 'maintenance', 'unknown'] as const)
          .filter((state) => seconds[state] > 0)
          .map((state) => `${state} ${spanText(seconds[state])}`)
          .concat(seconds.none > 0 ? [`no record ${spanText(seconds.none)}`] : [])
          .join(', '),
      );
    }
    expect(labels).toEqual(expected);
    const { up, down } = secondsIn(observations, 'several', now - from, now - to);
    const whole = up + down === 0 ? 'unknown' : percentText(up / (up + down));
    expect(body.includes(`<dt>Uptime</dt><dd>${whole}`), whole).toBe(true);
  });

  it('links from a down node to its messages, and to the probes', async () => {
    const { code, body } = await get(path(hostile, '?range=24h'));
    expect(code).toBe(200);
    for (const text of [
      'C&lt;hain>',
      '&lt;script>alert(&quot;peers&quot;)&lt;/script>',
      'Incidents</dt><dd>1<',
    ])
      expect(body.includes(text), text).toBe(true);
    expect(body).not.toContain('<script>alert');
  });

  it('agrees with its table and with the SLA of a partly observed month', async () => {
    const month = { from: Date.UTC(2026, 3, 1), to: Date.UTC(2026, 4, 1) };
    const thresholds = { minUptime: 80, minUptimeAfterUpgrade: 90, upgradeAt: month.to };
    const { nodes, ...report } = await slaReport(sql, month, now, 99.9, thresholds);
    const young = nodes.filter(({ node }) => node === 'young');
    const { up, down, unknown, maintenance, none } = secondsIn(observations, 'young', month.from, month.to);
    const whole = up + down + unknown;
    expect(none).toBeGreaterThan(20 * 86_400);
    expect(young).toEqual([
      expect.objectContaining({
        ...{ since: new Date(month.from + none * 1000), until: new Date(month.to), down_seconds: down },
        ...{ unknown_seconds: unknown, maintenance_seconds: maintenance },
        uptime_lower: expect.closeTo(up / whole, 6),
      }),
    ]);
    expect(slaPage({ ...report, nodes: young })).toContain('since 2026-04-27 08:24');
    const { body } = await get(path('young', '?from=2026-04-01&to=2026-05-01&grain=1mo'));
    expect(body).toContain(`<dt>Uptime</dt><dd>${percentText(up / (up + down))}`);
    const parts = Object.entries({ up, down, maintenance, unknown, 'no record': none })
      .filter(([, seconds]) => seconds > 0)
      .map(([state, seconds]) => `${state} ${spanText(seconds)}`);
    expect(titles(body).filter((title) => title?.endsWith(`: ${parts.join(', ')}`))).toHaveLength(1);
    expect(body).toContain('2026-04-27 08:24');
  });

  it.each([
    ['range=5h', /range: must be one of 1h, 24h/],
    ['from=yesterday', /from: must be a time such as/],
    ['from=2026-02-30', /from: must be a time such as/],
    ['from=2026-05-02&to=2026-05-01', /from: must be before to/],
    ['from=2999-01-01', /is in the future/],
    ['range=24h&from=2026-05-01', /range: cannot be combined with from and to/],
    ['grain=2h', /grain: must be one of 1min, .*, 1mo</],
    ['from=2020-01-01&grain=1min', /more than 400: use 1w or coarser/],
    ['from=0001-01-01', /from: is too early: a range has at most 400 months/],
    ['from=1&from=2', /from: is given more than once/],
    ['range=1h&range=24h', /range: is given more than once/],
    ['limit=5', /there are range, from, to, grain/],
    ["from=2026-05-01'--", /from: must be a time such as/],
  ])('refuses ?%s with a sentence', async (query, message) => {
    const { code, body } = await get(path('several', `?${query}`));
    expect({ code, isReported: message.test(body) }).toEqual({ code: 400, isReported: true });
  });

  it.each(['nobody', '%', '../../etc/passwd', '\u0000', "'; drop table x; --", 'x'.repeat(99), '__proto__'])(
    'returns 404 for node %j',
    async (node) => {
      expect((await get(path(node))).code).toBe(404);
    },
  );

  it('exists for a node without a record, too', async () => {
    const { code, body } = await get(path('never seen', '?range=all'));
    expect(code).toBe(200);
    expect(body).toContain('no record yet');
  });
});

it('shows nothing as up for a stalled ledger, neither to the public nor on the overview', async () => {
  const target = sql.json({ observer: 'paris', node: 'several', probe: 'health' });
  await sql`insert into recorder.targets (source, target_key, target) values ('node-health', 'k', ${target})`;
  await sql`
      insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since)
      values ('node-health', 'k', 'node_health', 5000, true, '2026-01-01')`;
  const later = await serveAt(now + 10 * minute);
  try {
    for (const [path, end] of [
      ['/', '</section>'],
      ['/status', 'id="maintenance"'],
    ] as const) {
      const { body } = await sendRequest(later.address + path, {
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      const [, nodes = ''] = body.split('id="nodes"');
      const tones = [...(nodes.split(end)[0] ?? '').matchAll(/class="state (\w+)"/g)].map(([, tone]) => tone);
      expect(tones.length, path).toBeGreaterThanOrEqual(4);
      expect(tones, path).not.toContain('good');
    }
  } finally {
    await later.close();
  }
});

it('reports at once that no observer probes any more, and shows nothing as up', async () => {
  await sql`update recorder.health_observers set lease_until = now() - interval '1 s'`;
  const states = async () =>
    [...(await get('/status')).body.matchAll(/class="state (\w+)"/g)].map(([, tone]) => tone);
  await expect.poll(states, { timeout: 20_000 }).not.toContain('good');
  expect((await get('/status')).body).toContain('All 4 nodes are unknown');
  await sql`update recorder.health_observers set lease_until = now() + interval '1 day'`;
});
