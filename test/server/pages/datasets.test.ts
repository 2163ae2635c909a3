import { beforeAll, describe, expect } from 'vitest';
import { getCatalogue } from '../../../src/reporting/relations/catalogue.ts';
import { withPages } from '../../support/fixture.ts';
import { linkOf, linksOf, rowsOf, textOf } from './html.ts';

const catalogue = getCatalogue();
const { it, sql, faults, sendRequest } = withPages(
  {},
  { recorded: true, max: 1, connection: { TimeZone: 'UTC' } },
);
beforeAll(async () => {
  // The dump of the database contains no rights.
  await sql`grant usage on schema reporting, reporting_internal to recorder_reader`;
  await sql`grant select on all tables in schema reporting, reporting_internal to recorder_reader`;
});
it('the list links to every dataset and view, with its meaning, and keeps the moment', async () => {
  const { body } = await sendRequest('/datasets?as_of=2026-06-01');
  for (const [name, { about }] of catalogue.datasets) {
    expect(linkOf(body, name)).toBe(`/datasets/${name}?as_of=2026-06-01T00:00:00Z`);
    expect(textOf(body)).toContain(about);
  }
  for (const name of ['metric_over_time', 'freshness', 'node_uptime'])
    expect(linksOf(body, name), name).toHaveLength(1);
});

it('the list does not show a ledger as empty: its rows are not counted', async () => {
  const [health = []] = rowsOf((await sendRequest('/datasets')).body);
  expect(health[0]).toMatch(/^node_health/);
  expect(health.at(-1)).toBe('–');
});

describe('rows', () => {
  it.each([...catalogue.views.keys()])('of %s are a page, now and at a moment', async (name) => {
    const moment = new Date().toISOString();
    const shown = name === 'changes' ? 303 : 200;
    expect((await sendRequest(`/datasets/${name}`)).code).toBe(shown);
    expect((await sendRequest(`/datasets/${name}?as_of=${moment}`)).code).toBe(shown);
    expect(faults).toEqual([]);
  });

  it('of the change feed are its query, because the function pages itself', async () => {
    const { headers } = await sendRequest('/datasets/changes');
    expect(headers.location).toMatch(/^\/query\?sql=/);
    expect((await sendRequest(String(headers.location))).code).toBe(200);
  });

  it('link to the versions of a row whose key contains an empty text', async () => {
    const list = '/datasets/primary_balances?balance_group=restakedRewards&limit=1';
    const { code, body } = await sendRequest(linkOf((await sendRequest(list)).body, 'history'));
    expect(code).toBe(200);
    expect(rowsOf(body)).toHaveLength(1);
  });

  it('are filtered, sorted and paged by the URL, and the links have the next step', async () => {
    const first = await sendRequest(
      '/datasets/metric_points?metric=txCount&sort=-value&limit=5&columns=value',
    );
    const values = rowsOf(first.body).map(([value = '']) => Number(value));
    expect(values).toHaveLength(5);
    expect(values).toEqual(values.toSorted((one, other) => other - one));
    const second = await sendRequest(linkOf(first.body, 'Next 5'));
    expect(second.code).toBe(200);
    const next = rowsOf(second.body).map(([value = '']) => Number(value));
    expect(next).toHaveLength(5);
    expect(Math.max(...next)).toBeLessThanOrEqual(Math.min(...values));
    const same = '/datasets/metric_points?metric=txCount&sort=-value&limit=5&columns=value';
    expect(linkOf(second.body, 'First page')).toBe(same);
    expect(linkOf(first.body, 'value')).toBe(same.replace('-value', 'value'));
    expect(linkOf(first.body, '×')).toBe(same.replace('metric=txCount&', ''));
  });

  it('show their complete values for a copy, and times as times', async () => {
    const { body } = await sendRequest('/datasets/node_validators?limit=1');
    const [row] =
      await sql`select tx_id, node_id from reporting.node_validators order by node, subnet_id, node_id limit 1`;
    expect(rowsOf(body)[0]).toEqual(expect.arrayContaining([row?.node_id, row?.tx_id]));
    expect(body).toMatch(/<time datetime="20\d\d-\d\d-\d\dT[^"]+Z"/);
  });

  it('have their number', async () => {
    const [counted] = await sql<{ count: number }[]>`select count(*)::int from reporting.node_validators`;
    expect(textOf((await sendRequest('/datasets/node_validators?limit=1')).body)).toContain(
      `${counted?.count} rows.`,
    );
    const none = textOf((await sendRequest('/datasets/node_validators?node=nobody')).body);
    expect(none).toContain('0 rows.');
    expect(none).toContain('No rows.');
  });

  it('have SQL that returns the same rows, whatever they contain', async () => {
    const strange = `it's "\\" $$ -- %27`;
    for (const query of [
      'metric=txCount&limit=7&sort=-bucket_start',
      `metric=${encodeURIComponent(strange)}`,
    ]) {
      const { body } = await sendRequest(`/datasets/metric_points?${query}`);
      const statement = textOf(/<pre data-copy[^>]*>(.*?)<\/pre>/s.exec(body)?.[1] ?? '');
      expect(statement).toContain('from reporting.metric_points as r');
      const found = await sql.begin(async (as) => {
        await as`set local role recorder_reader`;
        return as.unsafe(statement);
      });
      expect(found).toHaveLength(query.includes('limit=7') ? 7 : 0);
    }
  });
});

describe('the moment of knowledge', () => {
  it('applies to the rows, and is kept in every link to rows', async () => {
    const [moment] = await sql<{ at: string; then: number; now: number }[]>`
      with earlier as (
        select to_char(min(at) - interval '1 ms', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
        from reporting.node_validators_changes where change = 'left')
      select at, (select count(*) from reporting.node_validators_as_of(at::timestamptz))::int as then,
        (select count(*) from reporting.node_validators)::int as now from earlier`;
    const at = moment?.at ?? '';
    expect(moment?.then).not.toBe(moment?.now);
    const { body } = await sendRequest(`/datasets/node_validators?as_of=${at}`);
    expect(textOf(body)).toContain('Back to now');
    expect(textOf(body)).toContain(`${moment?.then} rows.`);
    for (const label of ['Rows', 'Versions', 'Data', 'weight', 'history'])
      expect(linksOf(body, label).at(-1), label).toContain(`as_of=${at}`);
  });

  it('before the first recording links to the first', async () => {
    const { code, body } = await sendRequest('/datasets/node_validators?as_of=2001-01-01&node=validator-1');
    expect(code).toBe(200);
    expect(textOf(body)).toContain(
      'There is no data of validators for that time.The dataset has been recorded since',
    );
    const then = await sendRequest(linkOf(body, 'show the data of that time'));
    expect(then.code).toBe(200);
    expect(textOf(then.body)).not.toContain('There is no record');
    expect((await sendRequest(linkOf(body, 'show the current data'))).code).toBe(200);
  });
});

describe('the history of a row', () => {
  it('has every version, the newest first, with the changes marked', async () => {
    const [changed] = await sql<{ node: string; subnet_id: string; node_id: string; versions: number }[]>`
      select node, subnet_id, node_id, count(*)::int as versions from reporting.node_validators_history
      group by node, subnet_id, node_id, start_time, tx_id having count(*) > 1 limit 1`;
    const { node = '', subnet_id = '', node_id = '', versions } = changed ?? {};
    const rows = await sendRequest(
      `/datasets/node_validators?${new URLSearchParams({ node, subnet_id, node_id })}`,
    );
    const { code, body } = await sendRequest(linkOf(rows.body, 'history'));
    expect(code).toBe(200);
    expect(rowsOf(body)).toHaveLength(versions ?? 0);
    expect(body).toContain('<mark');
  });

  it('requires the whole key, and a dataset', async () => {
    const { code, body } = await sendRequest('/datasets/node_validators/row?node=validator-1');
    expect(code).toBe(400);
    expect(textOf(body)).toContain('subnet_id: is required');
    expect((await sendRequest('/datasets/runs/row?run_id=1')).code).toBe(404);
    expect((await sendRequest('/datasets/chain_heights/row?node=x&chain=y&limit=9')).code).toBe(400);
  });
});

describe('forms', () => {
  it('lead to a URL without the empty fields', async () => {
    const sent = await sendRequest(
      '/datasets/node_validators?node=&weight.gte=5&as_of=&columns=node&columns=weight',
    );
    expect(sent).toMatchObject({
      code: 303,
      headers: { location: '/datasets/node_validators?weight.gte=5&columns=node,weight' },
    });
    const { body } = await sendRequest(String(sent.headers.location));
    expect(rowsOf(body)[0]).toHaveLength(2);
    expect(textOf(body)).toContain('weight is at least 5');
  });

  it('of functions require their parameters, and return rows', async () => {
    const form = await sendRequest('/datasets/metric_total');
    expect(form.body).toMatch(/<input id="parameter-metric"[^>]* required/);
    const answer = await sendRequest('/datasets/metric_total?from=2026-01-01&to=2026-12-01&metric=txCount');
    expect(rowsOf(answer.body)).toHaveLength(1);
    const refused = await sendRequest('/datasets/metric_points_as_of?at=2001-01-01');
    expect(refused.code).toBe(400);
    expect(textOf(refused.body)).toContain('there is no record of metric_points at 2001-01-01T00:00:00Z');
  });
});

describe('an invalid request', () => {
  const HOSTILE = [
    "' or 1=1 --",
    '"; drop table recorder.runs; --',
    '<script>alert(1)</script>',
    '%00',
    '%ED%A0%80',
    'x'.repeat(5000),
    '../../etc/passwd',
    '{"a":1}',
    '1e999999',
    '-',
    '0000-00-00',
    '99999-01-01',
    'value) desc; select pg_sleep(9)',
  ];

  it('is refused with a sentence or finds nothing, in every parameter, and never fails', async () => {
    const parameters = [
      'metric',
      'value',
      'value.gte',
      'bucket_start',
      'extra.null',
      'as_of',
      'sort',
      'columns',
      'after',
      'limit',
      'run_id',
      '__proto__',
      'relation',
    ];
    const codes = new Set<number>();
    for (const parameter of parameters)
      for (const text of HOSTILE) {
        const value = text.startsWith('%') ? text : encodeURIComponent(text);
        const { code, body } = await sendRequest(`/datasets/metric_points?${parameter}=${value}`);
        expect([200, 400, 404], `${parameter}=${text.slice(0, 40)}`).toContain(code);
        expect(body).not.toContain('<script>alert');
        codes.add(code);
      }
    expect(codes).toContain(400);
    expect(faults).toEqual([]);
  });

  it.each([
    ['value=1&value=2', 'value: is given more than once'],
    ['as_of=2026-01-01&as_of=2026-01-02', 'as_of: is given more than once'],
    ['value.gte=many', 'value.gte: must be a number'],
    ['nothing=1', 'nothing: is not a known parameter'],
    ['sort=extra', 'sort: must be one of'],
    ['after=x', 'after: must be the cursor'],
  ])('is answered with the allowed values: %s', async (query, message) => {
    const { code, body } = await sendRequest(`/datasets/metric_points?${query}`);
    expect(code).toBe(400);
    expect(textOf(body)).toContain(message);
  });

  it('returns 404 for an unknown relation', async () => {
    for (const name of [
      'nothing',
      'runs;',
      '%00',
      encodeURIComponent('../runs'),
      '__proto__',
      'x'.repeat(300),
    ])
      expect([404, 414], name).toContain((await sendRequest(`/datasets/${name}`)).code);
  });
});
