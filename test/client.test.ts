import { beforeAll, describe, expect } from 'vitest';
import { type Page, RecorderClient, RecorderError } from '../src/client.ts';
import { withPages } from './support/fixture.ts';

const TOKEN = 'a-token-of-the-test';
const { it, sql, server } = withPages({}, { token: TOKEN, recorded: true, max: 1 });
let url: string;
beforeAll(async () => {
  url = server.address;
});
async function all<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const read: Row[] = [];
  for await (const row of rows) read.push(row);
  return read;
}

describe('the client', () => {
  it('returns all rows, page by page, also as of a moment', async () => {
    let requests = 0;
    const countingFetch: typeof fetch = (...request) => {
      requests += 1;
      return fetch(...request);
    };
    const client = new RecorderClient({ url: `${url}/`, token: TOKEN, fetch: countingFetch });
    const [counted] = await sql<{ now: number; then: number; at: Date }[]>`
      with moments as (select max(recorded_since) as at from reporting_internal.recorded_since where dataset = 'validators')
      select (select count(*)::int from reporting.node_validators) as now, at,
        (select count(*)::int from reporting.node_validators_as_of((select at from moments))) as then from moments`;
    const rows = await all(client.rows('node_validators', { limit: 10, sort: '-weight' }));
    expect(rows).toHaveLength(counted?.now ?? 0);
    expect(requests).toBe(Math.ceil(rows.length / 10));
    expect(requests).toBeGreaterThan(2);
    const then = await all(client.rows('node_validators', { asOf: counted?.at ?? '' }));
    expect(then).toHaveLength(counted?.then ?? 0);
    const ofNode = client.history('node_validators', { where: { node: 'validator-1' } });
    for await (const row of ofNode)
      expect(row).toMatchObject({ node: 'validator-1', valid_from: expect.any(String) });
    const page: Page<unknown> = await client.page('runs', { limit: 3, sort: '-run_id' });
    expect(page.rows).toHaveLength(3);
    expect(await client.get('/datasets/node_validators')).toMatchObject({
      name: 'node_validators',
      dataset: 'validators',
      kind: 'state',
    });
  });

  it('throws the error message of the server', async () => {
    const client = new RecorderClient({ url, token: TOKEN });
    const wrong = await client.page('runs', { where: { color: 'red' } }).catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(RecorderError);
    expect(wrong).toMatchObject({
      status: 400,
      retryAfter: null,
      problems: [{ parameter: 'color', problem: expect.stringContaining('is not a known parameter') }],
    });
    await expect(new RecorderClient({ url }).get('/datasets')).rejects.toMatchObject({ status: 401 });
  });

  it('stops when its signal aborts', async () => {
    const client = new RecorderClient({ url, token: TOKEN });
    const stop = new AbortController();
    const rows = client.rows('node_validators', { limit: 1, signal: stop.signal });
    expect((await rows.next()).done).toBe(false);
    stop.abort();
    await expect(rows.next()).rejects.toThrow(/abort/i);
  });
});
