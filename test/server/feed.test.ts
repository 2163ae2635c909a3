import { request } from 'undici';
import { beforeAll, describe, expect } from 'vitest';
import { z } from 'zod';
import { RecorderClient } from '../../src/client.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { rowsStatement } from '../../src/reporting/relations/rows.ts';
import { queryOf, readPages, viewOf } from '../reporting/relations/pages.ts';
import { ManualClock } from '../support/clock.ts';
import { withPages } from '../support/fixture.ts';
import { maxRows, stepsIn } from '../support/plan-steps.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';

const { it, sql, server } = withPages({}, { max: 1 });
let client: RecorderClient;
const clock = new ManualClock(Date.UTC(2026, 0, 10));

beforeAll(async () => {
  client = new RecorderClient({ url: server.address });
});
/** Records a list of validators of one subnet with these weights. */
async function record(subnetId: string, weights: readonly string[], more: object = {}): Promise<void> {
  clock.now += 1_000;
  const feed = scriptedFeed(
    validators,
    { node: 'n', subnetId },
    { confirmShrink: { observations: 1, minDuration: 0 } },
  );
  const list = weights.map((weight, at) => ({ nodeID: `node-${at}`, startTime: 1, weight, ...more }));
  feed.script = () => onlyPage({ validators: list }, { whole: true });
  await run(recordingContext(sql, clock.read), feed);
}

const get = async (path: string) => {
  const { statusCode, body } = await request(`${server.address}/api/v1${path}`);
  return { code: statusCode, text: await body.text() };
};

describe('/api/v1/changes', () => {
  it('is empty without records, and has no cursor', async () => {
    expect(await client.changes()).toEqual({ rows: [], next: null });
  });

  it('continues after a cursor: each change once, in the order of SQL, exact, also as CSV', async () => {
    await record('one', [...Array(120).keys()].map(String));
    await record('two', ['340282366920938463463374607431768211456']);
    await record(
      'one',
      [...Array(120).keys()].map((weight) => String(weight + 1)),
    );
    const changes = await sql<{ cursor: string }[]>`select cursor from reporting.changes(null, 1000)`;
    expect(changes).toHaveLength(241);
    const pagedRows: unknown[] = [];
    let cursor: string | null = null;
    for (;;) {
      const { rows, next } = await client.changes(cursor, { limit: 50 });
      if (rows.length === 0) {
        expect(next, 'continues from where it is').toBe(cursor);
        break;
      }
      expect(next).toBe(rows.at(-1)?.cursor);
      pagedRows.push(...rows);
      cursor = next;
    }
    expect(pagedRows).toEqual(changes.map((row) => expect.objectContaining(row)));
    expect(pagedRows[120]).toMatchObject({
      ...{ dataset: 'validators', change: 'appeared' },
      content: { weight: '340282366920938463463374607431768211456' },
    });
    await record('two', ['7']);
    expect((await client.changes(cursor)).rows).toMatchObject([
      { change: 'revised', content: { weight: 7 } },
    ]);
    for (const path of ['/changes', '/views/changes']) {
      const { text } = await get(`${path}.csv`);
      expect(text.split('\r\n').filter((line) => /^\d+\.\d+\.[0-9a-f]+,/.test(line))).toHaveLength(242);
      expect(await get(`${path}?limit=50`), path).toEqual(await get('/changes?limit=50'));
    }
  });

  it('ends a response of long contents earlier', async () => {
    const { next } = await client.changes(null, { limit: 1_000 });
    await record('long', ['1', '2', '3', '4'], { unknownField: 'x'.repeat(1_500_000) });
    const first = await client.changes(next);
    const second = await client.changes(first.next);
    expect([first.rows.length, second.rows.length]).toEqual([3, 1]);
  });

  it('refuses an invalid cursor, one of another database, and unknown parameters', async () => {
    await expect(client.changes('1.1.1')).rejects.toMatchObject({ status: 400 });
    await expect(client.changes('0.0.0')).rejects.toThrow('was removed from the feed');
    await expect(client.changes('x')).rejects.toThrow('is not the cursor of a change');
    for (const wrong of ['limit=0', 'limit=1001', 'dataset=validators', 'after=1.1.1&after=2.2.2'])
      expect((await get(`/changes?${wrong}`)).code, wrong).toBe(400);
  });
});

describe('rows of change_rows', () => {
  const view = viewOf('change_rows');

  it('equal those of the feed, page after page', async () => {
    const changes = await sql<{ cursor: string }[]>`select cursor from reporting.changes(null, 1000)`;
    const pagedRows = await readPages(sql, view, { limit: '50' });
    expect(pagedRows.map(({ cursor }) => cursor)).toEqual(changes.map(({ cursor }) => cursor));
  });

  it('are read for the commits of a page only', async () => {
    const { text, values } = rowsStatement(view, queryOf(view, { sort: '-commit_number', limit: '1' }));
    const [row] = await sql.unsafe<{ 'QUERY PLAN': unknown }[]>(
      `explain (analyze, timing off, format json) ${text}`,
      [...values],
    );
    const steps = z.tuple([z.unknown()]).parse(row?.['QUERY PLAN']).flatMap(stepsIn);
    // The last commit has four changes; the first one has 120.
    expect(maxRows(steps.filter(({ table }) => table === 'validators'))).toBeLessThan(120);
  });
});
