import { beforeAll, describe, expect } from 'vitest';
import { getCatalogue } from '../../../src/reporting/relations/catalogue.ts';
import { withPages } from '../../support/fixture.ts';
import { linkOf, linksOf, rowsOf, textOf } from './html.ts';
import { type RevisedPoint, revisePoint } from './revised-point.ts';

const { it, sql, faults, sendRequest } = withPages(
  {},
  { recorded: true, max: 1, connection: { TimeZone: 'UTC' } },
);
let revised: RevisedPoint;

beforeAll(async () => {
  revised = await revisePoint(sql);
});
/** Start of the recording of a dataset, as a URL parameter. */
async function began(dataset: string): Promise<string> {
  const [row] = await sql<{ at: string }[]>`
    select to_char(min(recorded_since), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
    from reporting_internal.recorded_since where dataset = ${dataset}`;
  if (!row) throw new Error(`${dataset} was never recorded`);
  return row.at;
}

describe('the differences of two moments', () => {
  const series = () => {
    const { chain_id, metric, time_interval, bucket_start } = revised;
    return new URLSearchParams({ chain_id, metric, time_interval, bucket_start: bucket_start.toISOString() });
  };

  it('are shown side by side, with links to the history and to both moments in a chart', async () => {
    const { code, body } = await sendRequest(
      `/datasets/metric_points/changes?from=${revised.until.toISOString()}&${series()}`,
    );
    expect(code).toBe(200);
    const [row = []] = rowsOf(body);
    expect(row.slice(1, 4)).toEqual([revised.chain_id, revised.metric, revised.time_interval]);
    expect(row.slice(5, 9)).toEqual(['changed', 'value', revised.was, revised.is]);
    const history = await sendRequest(linkOf(body, 'history'));
    expect(rowsOf(history.body).length).toBe(2);
    const chart = await sendRequest(linkOf(body, 'chart'));
    expect(chart.code).toBe(200);
    expect(textOf(chart.body)).toContain('as of now');
    expect(textOf(chart.body)).toMatch(/as of \d{4}/);
  });

  it('equal those of the API, in the page, its SQL and its files, page by page', async () => {
    const from = await began('validators');
    const api = JSON.parse(
      (await sendRequest(`/api/v1/datasets/node_validators/changes?from=${from}&limit=1000`)).body,
    );
    expect(api.rows.length).toBeGreaterThan(5);
    let path: string | undefined = `/datasets/node_validators/changes?from=${from}&limit=3`;
    const rows: unknown[] = [];
    while (path !== undefined) {
      const { code, body } = await sendRequest(path);
      expect(code).toBe(200);
      const json = JSON.parse((await sendRequest(linkOf(body, 'JSON'))).body);
      rows.push(...json.rows);
      const statement = textOf(/<pre data-copy[^>]*>(.*?)<\/pre>/s.exec(body)?.[1] ?? '');
      const found = await sql.begin(async (as) => {
        await as`set local role recorder_reader`;
        return as.unsafe(statement);
      });
      expect(found.map(({ change }) => change)).toEqual(
        json.rows.map(({ change }: { change: string }) => change),
      );
      expect(found.map((row) => row.node_id)).toEqual(
        json.rows.map(({ key }: { key: { node_id: string } }) => key.node_id),
      );
      [path] = linksOf(body, 'Next 3');
    }
    expect(rows).toEqual(api.rows);
    const first = await sendRequest(`/datasets/node_validators/changes?from=${from}&limit=3`);
    const csv = await sendRequest(linkOf(first.body, 'CSV'));
    expect(csv.body.trim().split('\r\n')).toHaveLength(api.rows.length + 1);
  });

  it('include joined and removed rows, for every dataset', async () => {
    const [departure] = await sql<{ node_id: string; before: string; at: string }[]>`
      select node_id, to_char(at - interval '1 ms', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as before,
        to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
      from reporting.node_validators_changes where change = 'left' limit 1`;
    const parameters = new URLSearchParams({
      from: departure?.before ?? '',
      to: departure?.at ?? '',
      node_id: departure?.node_id ?? '',
    });
    const { body } = await sendRequest(`/datasets/node_validators/changes?${parameters}`);
    expect(rowsOf(body).flat()).toEqual(expect.arrayContaining(['left', 'whole row']));
    expect(textOf(body)).toContain('absent');
    for (const name of getCatalogue().datasets.keys())
      expect({ name, code: (await sendRequest(`/datasets/${name}/changes`)).code }).toEqual({
        name,
        code: 200,
      });
    expect(faults).toEqual([]);
  });

  it('start with the record, or link to its start', async () => {
    const { body } = await sendRequest('/datasets/node_validators/changes?from=2001-01-01');
    expect(textOf(body)).toContain('There is no data of validators for that time.');
    expect((await sendRequest(linkOf(body, 'show the changes since that time'))).body).toContain(
      'Differences',
    );
    const fixed = await sendRequest(
      linkOf((await sendRequest('/datasets/node_validators/changes')).body, 'Permanent link'),
    );
    expect(fixed.code).toBe(200);
    expect(linkOf(fixed.body, 'Rows')).toContain('as_of=');
  });

  it.each([
    ['from=2026-05-02&to=2026-05-01', 'from: must be before to'],
    ['from=yesterday', 'from: must be a time'],
    ['from=2026-05-01&weight=5', 'weight: is not a known parameter'],
    ['as_of=2026-05-01', 'as_of: is not a known parameter'],
    ['from=2026-05-01&from=2026-05-02', 'from: is given more than once'],
    ['after=x', 'after: must be the cursor'],
    [`node=${encodeURIComponent("'; drop table x; --")}`, 'No differences.'],
    [`node=${encodeURIComponent('<script>alert(1)</script>')}`, 'No differences.'],
  ])('report an invalid ?%s', async (query, message) => {
    const { code, body } = await sendRequest(`/datasets/node_validators/changes?${query}`);
    expect(code).toBe(message.endsWith('.') ? 200 : 400);
    expect(textOf(body)).toContain(message);
    expect(body).not.toContain('<script>alert');
    expect(faults).toEqual([]);
  });
});

describe('files linked from the pages', () => {
  it.each([
    [
      '/datasets/node_validators.csv?node=validator-1',
      '/api/v1/datasets/node_validators/rows.csv?node=validator-1',
    ],
    ['/datasets/node_validators_history.json?limit=2', '/api/v1/views/node_validators_history.json?limit=2'],
    ['/datasets/runs.csv?as_of=2026-11-01', '/api/v1/views/runs.csv?started_at.lte=2026-11-01'],
    [
      '/runs.csv?dataset=validators&until=2027-01-01',
      '/api/v1/views/runs.csv?sort=-run_id&dataset=validators&started_at.lt=2027-01-01',
    ],
    ['/quarantine.json?before=7', '/api/v1/views/quarantine.json?sort=-id&id.lt=7'],
    ['/discrepancies.csv?state=open', '/api/v1/views/discrepancies.csv?sort=-id&ended_at.null=true'],
    ['/datasets/node_validators/changes.json', '/api/v1/datasets/node_validators/changes.json'],
    ['/datasets/node_validators/coverage.csv', '/api/v1/datasets/node_validators/coverage.csv'],
    [
      '/datasets/node_validators/row.json?node=x',
      '/api/v1/datasets/node_validators/rows/history.json?node=x',
    ],
  ])('%s equal those of the API', async (path, location) => {
    expect(await sendRequest(path)).toMatchObject({ code: 303, headers: { location } });
    // The first moment of changes is a required parameter.
    if (!path.includes('/changes.') && !path.includes('/row.'))
      expect((await sendRequest(location)).code).toBe(200);
  });

  it('are linked from the rows, and contain them all', async () => {
    const { body } = await sendRequest('/datasets/node_validators?limit=2&columns=node,node_id');
    const json = JSON.parse((await sendRequest(linkOf(body, 'JSON'))).body);
    expect(json.rows).toHaveLength(2);
    const csv = (await sendRequest(linkOf(body, 'CSV'))).body.trim().split('\r\n');
    const [count] = await sql<{ all: number }[]>`select count(*)::int as all from reporting.node_validators`;
    expect(csv[0]).toBe('node,node_id');
    expect(csv).toHaveLength((count?.all ?? 0) + 1);
    for (const path of [
      '/datasets/nothing.csv',
      '/datasets/node_validators.xml',
      '/datasets/node_validators/rows.csv',
    ])
      expect((await sendRequest(path)).code, path).toBe(404);
  });
});
