import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { beforeAll, describe, expect } from 'vitest';
import { NotListed } from '../../../src/server/pages/status/node-parts.tsx';
import { withPages } from '../../support/fixture.ts';
import { day, hour, type Observation, write } from './node-states.ts';

const now = Math.floor(Date.now() / 1000) * 1000;
/** The last ones by name are down, so that an order by name would not list them. */
const nodes = Array.from({ length: 230 }, (_, at) => `node-${at + 1}`);
const down = new Set(nodes.slice(-3));

const { it, sql, sendRequest } = withPages({ clock: () => now });
beforeAll(async () => {
  const sayings = nodes.map(
    (node): Observation => ({
      observer: 'paris',
      node,
      states: down.has(node)
        ? [
            [now - day, 'up'],
            [now - hour, 'down'],
          ]
        : [[now - day, 'up']],
      absences: [],
    }),
  );
  await write(sql, sayings, now);
});
const listing = /<(?:h3|t[dh][^>]*)><a href="\/status\/(node-\d+)"/g;
describe.each(['/', '/status'])('%s of more nodes than can be shown', (path) => {
  it('lists 200, those with problems first, and links to all others', async () => {
    const { body: text } = await sendRequest(path);
    const [, section = ''] = text.split('id="nodes"');
    const [list = '', rest = ''] = section.split('30 more nodes: 30 up');
    const listed = [...list.matchAll(listing)].map(([, node]) => node);
    expect(listed).toHaveLength(200);
    expect(listed.slice(0, 4)).toEqual([...down, 'node-1']);
    const linked = [...rest.matchAll(/<a href="\/status\/(node-\d+)"/g)].map(([, node]) => node);
    expect([...listed, ...linked.slice(0, 30)].sort()).toEqual([...nodes].sort());
  });
});

it('/status of many nodes shows those with problems in full, and of each other one its days and uptimes in a line', async () => {
  const { body: text } = await sendRequest('/status');
  const inFull = [...text.matchAll(/<h3><a href="\/status\/(node-\d+)"/g)].map(([, node]) => node);
  expect(inFull).toEqual([...down]);
  const [, line = ''] = text.split('<a href="/status/node-1">node-1</a>');
  const [row = ''] = line.split('</tr>');
  expect(row).toContain('The last 90 days of node-1: 2 with a record: 2 fully up');
  expect(row).toContain('/status/node-1?from=');
  expect([...row.matchAll(/100\.000.%/g)]).toHaveLength(4);
});

it('links up to a thousand unlisted nodes, those with problems first; the others are counted', () => {
  const many = Array.from({ length: 1_500 }, (_, at) => ({
    node: `node-${at + 1}`,
    state: at < 3 ? ('down' as const) : ('up' as const),
  }));
  const text = renderToString(h(NotListed, { nodes: many }));
  expect(text).toContain('1\u202f500 more nodes: 3 down, 1\u202f497 up');
  expect([...text.matchAll(/<a href="\/status\/node-\d+"/g)]).toHaveLength(1_000);
  expect(text).toContain('href="/status/node-1"');
  expect(text).toContain('and 500 without a link: open');
});

it('/status/NODE counts all incidents, and says that it lists only the newest', async () => {
  await sql`insert into recorder.health_probes (observer, node, probe, probes, probed_at) values ('paris', 'flapping', 'health', 9, now())`;
  await sql`
    insert into recorder.node_health (observer, node, probe, check_name, state, started_at, ended_at)
    select 'paris', 'flapping', 'health', '*', s.state, s.starts, s.ends
    from generate_series(1, 110) n, lateral (select ${new Date(now)}::timestamptz - n * interval '20 minutes' as starts) i,
      lateral (values ('down', starts, starts + interval '1 minute'),
        ('up', starts + interval '1 minute', case when n > 1 then starts + interval '20 minutes' end)) as s(state, starts, ends)`;
  await sql`analyze recorder.node_health`;
  const { body: text } = await sendRequest('/status/flapping?range=7d');
  expect(text).toContain('<dt>Incidents</dt><dd>110</dd>');
  expect([...text.matchAll(/>resolved</g)]).toHaveLength(100);
  expect(text).toContain('Only the newest 100 of 110 incidents are shown.');
});
