import { describe, expect, it } from 'vitest';
import { DAY_ONLY, METRICS } from '../../sandbox/metrics/names.ts';
import { NOW } from './client.ts';
import { withSandbox } from './with-sandbox.ts';

const { sandbox, clock, get } = withSandbox();

const HOUR = 3600;
const DAY = 86_400;

interface Point {
  readonly value: number;
  readonly timestamp: number;
}

async function series(chain: string, metric: string, query: string): Promise<Point[]> {
  const points: Point[] = [];
  let token = '';
  do {
    const { body, status, text } = await get(
      `/v2/chains/${chain}/metrics/${metric}?pageSize=2160&${query}${token}`,
    );
    expect(status, text).toBe(200);
    points.push(...body.results);
    token = body.nextPageToken === undefined ? '' : `&pageToken=${body.nextPageToken}`;
  } while (token !== '');
  return points;
}

const midnight = Math.floor(NOW / 1000 / DAY) * DAY;

describe('metrics', () => {
  it.each(['txCount', 'gasUsed'])(
    '%s: the hours of a day sum to it, including partial days',
    async (metric) => {
      for (const day of [midnight, midnight - DAY, midnight - 3 * DAY, midnight - 40 * DAY]) {
        const hours = await series(
          '43114',
          metric,
          `timeInterval=hour&startTimestamp=${day}&endTimestamp=${day + DAY - 1}`,
        );
        const [whole] = await series(
          '43114',
          metric,
          `timeInterval=day&startTimestamp=${day}&endTimestamp=${day}`,
        );
        expect(hours.length).toBe(day === midnight ? 11 : 24);
        expect(hours.reduce((sum, point) => sum + point.value, 0)).toBe(whole?.value);
      }
    },
  );

  it('the days of a week and of a month sum to them', async () => {
    const monday = Date.UTC(2026, 1, 23) / 1000;
    const february = Date.UTC(2026, 1, 1) / 1000;
    for (const [interval, from, to] of [
      ['week', monday, monday + 7 * DAY],
      ['month', february, Date.UTC(2026, 2, 1) / 1000],
    ] as const) {
      const days = await series(
        '888001',
        'txCount',
        `timeInterval=day&startTimestamp=${from}&endTimestamp=${to - 1}`,
      );
      const [whole] = await series(
        '888001',
        'txCount',
        `timeInterval=${interval}&startTimestamp=${from}&endTimestamp=${from}`,
      );
      expect(whole?.timestamp).toBe(from);
      expect(days.reduce((sum, point) => sum + point.value, 0)).toBe(whole?.value);
    }
  });

  it('the running sum is the sum of all days, and of contracts up to the timestamp only', async () => {
    const days = await series('888001', 'txCount', 'timeInterval=day');
    const cumulative = await series('888001', 'cumulativeTxCount', 'timeInterval=day');
    expect(cumulative[0]?.value).toBe(days.reduce((sum, point) => sum + point.value, 0));
    const contracts = await series('888001', 'contracts', 'timeInterval=day');
    const running = await series('888001', 'cumulativeContracts', 'timeInterval=day');
    expect(running[0]?.value).toBe(contracts.slice(1).reduce((sum, point) => sum + point.value, 0));
  });

  it('returns points newest first, value before timestamp, on the windows of the interval', async () => {
    for (const interval of ['hour', 'day', 'week', 'month']) {
      const { text, body } = await get(
        `/v2/chains/43113/metrics/activeSenders?timeInterval=${interval}&pageSize=12`,
      );
      expect(text).toMatch(/^\{"results":\[\{"value":\d+,"timestamp":\d+\}/);
      const times: number[] = body.results.map((point: Point) => point.timestamp);
      expect(times).toEqual([...times].sort((a, b) => b - a));
      for (const time of times) {
        const date = new Date(time * 1000);
        expect(time % HOUR).toBe(0);
        if (interval !== 'hour') expect(date.getUTCHours()).toBe(0);
        if (interval === 'week') expect(date.getUTCDay()).toBe(1);
        if (interval === 'month') expect(date.getUTCDate()).toBe(1);
      }
    }
  });

  it('enforces its limits and refuses unknown parameters', async () => {
    const path = '/v2/chains/43114/metrics';
    expect((await get(`${path}/txCount`)).body.results).toHaveLength(100);
    expect((await get(`${path}/txCount?pageSize=2160`)).body.results).toHaveLength(2160);
    for (const wrong of [
      'txCount?pageSize=0',
      'txCount?pageSize=2161',
      'txCount?startTimestamp=-1',
      'txCount?timeInterval=year',
      'nothing',
    ]) {
      const { status, body } = await get(`${path}/${wrong}`);
      expect([wrong, status, body.statusCode, body.error]).toEqual([wrong, 400, 400, 'Bad Request']);
    }
    expect((await get('/v2/chains/1/metrics/txCount')).status).toBe(404);
    expect((await get('/v2/chains/888003/metrics/txCount')).body).toEqual({ results: [] });
  });

  it('has the daily metrics by day only: the default interval is the hour', async () => {
    for (const metric of DAY_ONLY) {
      expect((await get(`/v2/chains/43114/metrics/${metric}`)).status).toBe(400);
      expect((await get(`/v2/chains/43114/metrics/${metric}?timeInterval=week`)).status).toBe(400);
      expect(
        (await get(`/v2/chains/43114/metrics/${metric}?timeInterval=day`)).body.results.length,
      ).toBeGreaterThan(90);
    }
  });

  it('includes both ends of a range', async () => {
    const points = await series(
      '43114',
      'txCount',
      `timeInterval=day&startTimestamp=${midnight - 9 * DAY}&endTimestamp=${midnight - 7 * DAY}`,
    );
    expect(points.map((point) => point.timestamp)).toEqual([7, 8, 9].map((days) => midnight - days * DAY));
  });

  it('has consistent values of all 17 metrics of a chain', async () => {
    const query = `timeInterval=day&startTimestamp=${midnight - 20 * DAY}&endTimestamp=${midnight - 20 * DAY}`;
    const of = Object.fromEntries(
      await Promise.all(
        METRICS.map(async (metric) => [metric, (await series('43114', metric, query))[0]?.value ?? -1]),
      ),
    );
    expect(METRICS).toHaveLength(17);
    expect(of.activeSenders).toBeLessThanOrEqual(of.activeAddresses);
    expect(of.activeSenders).toBeLessThanOrEqual(of.txCount);
    expect(of.deployers).toBeLessThanOrEqual(of.contracts);
    expect(of.avgTps).toBeCloseTo(of.txCount / DAY, 1);
    expect(of.maxTps).toBeGreaterThanOrEqual(of.avgTps);
    expect(of.maxGps).toBeGreaterThanOrEqual(of.avgGps);
    expect(of.maxGasPrice).toBeGreaterThanOrEqual(of.avgGasPrice);
    expect(of.feesPaid).toBeCloseTo((of.gasUsed * of.avgGasPrice) / 1e9, 6);
  });

  it('has the sum of the chains as the total', async () => {
    const at = `timeInterval=day&startTimestamp=${midnight - 20 * DAY}&endTimestamp=${midnight - 20 * DAY}`;
    const of = async (chain: string): Promise<number> => (await series(chain, 'gasUsed', at))[0]?.value ?? 0;
    const gasUsed = await Promise.all(['43114', '43113', '888001', '888002'].map(of));
    expect(await of('total')).toBe(gasUsed.reduce((sum, value) => sum + value));
  });

  it('returns averages of transactions per second with status and the time of the last run', async () => {
    const { body } = await get('/v1/avg_tps/43114');
    expect(body).toMatchObject({ status: 200, lastRun: Math.floor(NOW / 900_000) * 900 });
    expect(body.results[0].timestamp).toBe(midnight);
    const next = await get(`/v1/avg_tps/43114?pageToken=${body.nextPageToken}`);
    expect(next.body.results[0].timestamp).toBe(body.results.at(-1).timestamp - DAY);
  });

  it('revises its newest points until they settle', () => {
    const hour = Math.floor(NOW / 1000 / HOUR) * HOUR;
    const revisions = [600, 1500, 2400, 3600, 5400, 9000, 12_000].map((age) =>
      sandbox().metrics.value('43114', 'txCount', 'hour', hour, hour + age),
    );
    expect(revisions[0]).toBeUndefined();
    const values = revisions.slice(1).map((value) => value ?? -1);
    expect(values).toEqual([...values].sort((a, b) => a - b));
    expect(new Set(values).size).toBeGreaterThan(4);
    const day = midnight - 10 * DAY;
    const late = [25, 40, 56].map(
      (hours) => sandbox().metrics.value('43114', 'txCount', 'day', day, day + hours * HOUR) ?? 0,
    );
    expect(late[1]).toBeGreaterThan(late[0] ?? 0);
  });

  it('has points that return to an earlier value, and points that vanish and reappear', () => {
    let returned = 0;
    let vanished = 0;
    for (let hour = midnight - 60 * DAY; hour < midnight - 10 * DAY; hour += HOUR) {
      const at = (age: number): number | undefined =>
        sandbox().metrics.value('43114', 'txCount', 'hour', hour, hour + age * HOUR);
      const [before, during, after] = [at(5.9), at(7), at(9.5)];
      if (before !== undefined && before === after && during !== before) returned += 1;
      if (at(3) !== undefined && at(4.5) === undefined && at(6.5) !== undefined) vanished += 1;
    }
    expect(returned).toBeGreaterThan(0);
    expect(vanished).toBeGreaterThan(0);
  });

  it('changes nothing while the clock is stopped, and changes with it', async () => {
    const path = '/v2/chains/43114/metrics/txCount?pageSize=3&endTimestamp=9999999999';
    const first = (await get(path)).body.results;
    expect((await get(path)).body.results).toEqual(first);
    clock().advance(900_000);
    expect((await get(path)).body.results).not.toEqual(first);
    clock().advance(-900_000);
    expect((await get(path)).body.results).toEqual(first);
  });
});
