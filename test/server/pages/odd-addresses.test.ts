import { describe, expect } from 'vitest';
import { withPages } from '../../support/fixture.ts';
import { textOf } from './html.ts';

const { it, sendRequest } = withPages();
const long = 'a'.repeat(10_000);

describe('an unusual URL', () => {
  it.each([
    ['/runs?status=done&status=failed', /status: is given more than once/],
    ['/runs?before=1&before=2', /before: is given more than once/],
    ['/discrepancies?check=a&check=b', /check: is given more than once/],
    ['/runs/9999999999999999999', /run: must be a whole number of at most 18 digits/],
    ['/query?sql=select+1&as_of=soon', /as_of: must be a time such as 2026-/],
    ['/query?sql=select+1&as_of=2026-12-01&as_of=2026-12-02', /as_of: is given more than once/],
    ['/charts?from=soon', /from: must be a time such as 2026-/],
    ['/charts?beside=soon', /beside: must be a time such as 2026-/],
  ])('%s is refused with the reason', async (path, message) => {
    const { code, body } = await sendRequest(path);
    expect({ code, text: textOf(body) }).toEqual({ code: 400, text: expect.stringMatching(message) });
    expect(body).not.toContain('Invalid input');
  });

  it.each([`/status/${long}`, `/datasets/${long}`, `/queues/${long}`])(
    '%.20s… returns a page for 404',
    async (path) => {
      const { code, headers, body } = await sendRequest(path);
      expect({ code, type: headers['content-type'] }).toEqual({
        code: 404,
        type: 'text/html; charset=utf-8',
      });
      expect(body).toMatch(/<h1>Page not found /);
    },
  );

  it.each(['/runs/', '/status/', '/datasets/', '/datasets/node_validators/'])(
    '%s is the page without the trailing slash',
    async (path) => {
      expect((await sendRequest(path)).code).toBe(200);
    },
  );
});

describe('a query without rows', () => {
  it.each([
    ['/discrepancies?check=nothing_of_that_name', 'No matching discrepancies.'],
    ['/discrepancies?state=ended', 'No matching discrepancies.'],
    ['/alerts?rule=no-such-rule', 'This rule has no open alerts.'],
    ['/quarantine?dataset=validators', 'No matching items.'],
    ['/datasets/node_validators/coverage?target=unknown', 'There is no target unknown.'],
  ])('%s is not reported as healthy', async (path, message) => {
    const { code, body } = await sendRequest(path);
    expect({ code, text: textOf(body) }).toEqual({ code: 200, text: expect.stringContaining(message) });
    expect(body).not.toMatch(
      /The sources agree|Nothing is wrong|The quarantine is empty|not asked for anything/,
    );
  });

  it('has rows if the first of them is too long for a page', async () => {
    const sql = encodeURIComponent("select repeat('x', 3000000) as text");
    const text = textOf((await sendRequest(`/query?sql=${sql}`)).body);
    expect(text).toContain('The first row is too long for this page. The CSV and JSON files contain it.');
    expect(text).not.toContain('The first 0 rows');
  });
});
