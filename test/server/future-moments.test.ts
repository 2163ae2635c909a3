import { describe, expect } from 'vitest';
import { withPages } from '../support/fixture.ts';

const now = Date.UTC(2026, 4, 17, 9, 41);
const { it, sendRequest } = withPages({ clock: () => now });

describe('a moment in the future', () => {
  it.each([
    '/datasets?',
    '/datasets/node_validators?',
    '/datasets/node_health?',
    '/datasets/node_validators/row?node=a&',
    '/datasets/node_validators/coverage?',
    '/charts?of=metric_points&',
    '/query?sql=select+1&',
    '/query.json?sql=select+1&',
    '/query.csv?sql=select+1&',
    '/api/v1/datasets/node_validators/rows?',
    '/api/v1/datasets/node_validators/rows.csv?',
    '/api/v1/datasets/metric_points/series?chain_id=1&metric=txCount&time_interval=day&',
    '/api/v1/questions/stake-daily?from=2026-01-01&to=2026-02-01&',
  ])('is refused with a sentence by %s', async (path) => {
    for (const moment of ['2026-05-17T09:41:01', '2999-01-01', '2026-05-17T09:42%2B00:00']) {
      const { code, body } = await sendRequest(`${path}as_of=${moment}`);
      expect({ code, isReported: /as_of:? is in the future/.test(body) }).toEqual({
        code: 400,
        isReported: true,
      });
    }
    // The same moment in another time zone: two hours earlier there.
    const past = await sendRequest(`${path}as_of=2026-05-17T09:42%2B02:00`);
    expect(past.body).not.toContain('is in the future');
  });

  it('is refused in the other line of a chart, too', async () => {
    const { code, body } = await sendRequest('/charts?beside=2999-01-01');
    expect(code).toBe(400);
    expect(body).toContain('beside: is in the future');
  });

  it.each([
    ['/api/v1/views/node_validators_as_of?', 'at'],
    ['/api/v1/views/node_validators_as_of.csv?', 'at'],
    ['/api/v1/views/node_validators%5Fas%5Fof?', 'at'],
    ['/api/v1/views/node_incidents_as_of?', 'at'],
    ['/datasets/node_validators_as_of?', 'at'],
    ['/api/v1/datasets/node_validators/changes?from=2026-05-01&', 'to'],
    ['/api/v1/datasets/node_validators/changes.csv?from=2026-05-01&', 'to'],
    ['/api/v1/datasets/node_health/changes?from=2026-05-01&', 'to'],
    ['/api/v1/datasets/node_validators/changes?', 'from'],
    ['/datasets/node_validators/changes?', 'to'],
    ['/datasets/node_validators/changes?', 'from'],
  ])('is refused by %s as %s, too', async (path, parameter) => {
    for (const moment of ['2026-05-17T09:41:01', '2999-01-01']) {
      const { code, body } = await sendRequest(`${path}${parameter}=${moment}`);
      expect({ code, isReported: new RegExp(`${parameter}:? is in the future`).test(body) }).toEqual({
        code: 400,
        isReported: true,
      });
    }
    expect((await sendRequest(`${path}${parameter}=2026-05-17T09:41`)).body).not.toContain('not come');
  });

  it.each([
    '/api/v1/views/node_validators_changes?at=2999-01-01',
    '/api/v1/views/node_uptime?from=2026-01-01&to=2999-01-01',
    '/datasets/node_validators_changes?at=2999-01-01',
  ])('is allowed in other parameters of that name: %s', async (path) => {
    expect((await sendRequest(path)).code).toBe(200);
  });

  it('is ignored if the error is about the parameter itself', async () => {
    for (const query of ['as_of=tomorrow', 'as_of=2999-01-01&as_of=2999-01-02']) {
      const { code, body } = await sendRequest(`/api/v1/datasets/node_validators/rows?${query}`);
      expect(code).toBe(400);
      expect(body).not.toContain('is in the future');
    }
  });
});
