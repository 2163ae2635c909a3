import { describe, expect, it } from 'vitest';
import { getCatalogue } from '../../../src/reporting/relations/catalogue.ts';
import { InvalidRequestError, validateParameters } from '../../../src/reporting/relations/invalid-request.ts';
import { GENERAL_PARAMETERS } from '../../../src/reporting/relations/list-parameters.ts';
import { rowsParameters } from '../../../src/reporting/relations/row-query.ts';
import { rowsStatement } from '../../../src/reporting/relations/rows.ts';
import { viewOf } from './pages.ts';

const catalogue = getCatalogue();

const validate = (name: string, parameters: Readonly<Record<string, unknown>>) =>
  validateParameters(rowsParameters(viewOf(name)), parameters);

function problems(name: string, parameters: Readonly<Record<string, unknown>>): string[] {
  try {
    validate(name, parameters);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    return error.problems.map(({ parameter, problem }) => `${parameter} ${problem}`);
  }
}

describe('parameters of a list', () => {
  it('are refused all at once, each with its valid form', () => {
    const wrong = {
      chain_id: ['1', '2'],
      'bucket_start.gte': 'yesterday',
      'value.lt': '1; drop table x',
      limit: '0',
      sort: 'value; --',
      columns: 'value,secret',
      after: '["forged"]',
      as_of: '2026-02-30',
      'extra.null': 'maybe',
      password: 'x',
    };
    expect(problems('metric_points', wrong)).toEqual([
      'chain_id is given more than once',
      expect.stringMatching(/^bucket_start.gte must be a time such as 2026-12-01/),
      'value.lt must be a number',
      'extra.null must be true or false',
      expect.stringMatching(/^columns has no column secret; there are chain_id, metric/),
      expect.stringMatching(/^sort must be one of chain_id, metric/),
      'limit must be a whole number from 1 to 1000',
      expect.stringMatching(/^as_of must be a time/),
      expect.stringMatching(/^password is not a known parameter: there are chain_id, chain_id.gte.{0,600}$/),
    ]);
  });

  it('that are misspelt are reported with the nearest name', () => {
    expect(problems('metric_points', { limti: '5' })).toEqual([
      'limti is not a known parameter; did you mean "limit"?',
    ]);
    expect(problems('metric_points', { chian_id: '1' })).toEqual([
      'chian_id is not a known parameter; did you mean "chain_id"?',
    ]);
  });

  it('that PostgreSQL cannot store as text, or that are too long, are refused', () => {
    for (const [text, why] of [
      ['a\0b', 'NUL'],
      ['\ud800', 'surrogate'],
      ['x'.repeat(4_001), 'at most 4000 characters'],
    ] as const)
      expect(problems('metric_points', { chain_id: text })).toEqual([
        expect.stringMatching(new RegExp(`^chain_id must .*${why}`)),
      ]);
  });

  it('never accept a cursor of another order', () => {
    const values = '["43114","txCount","day","2026-01-01T00:00:00Z"]';
    expect(problems('metric_points', { after: `chain_id${values}` })).toEqual([]);
    for (const after of [
      values,
      `-chain_id${values}`,
      'chain_id["43114"]',
      'chain_id[1,2,3,4]',
      'chain_id[',
      '',
    ])
      expect(problems('metric_points', { after }), after).toEqual([
        expect.stringMatching(/^after must be the cursor/),
      ]);
  });

  it('report why a relation has no past', () => {
    expect(problems('runs', { as_of: '2026-01-01' })).toEqual([
      'as_of is not a known parameter: past states of reporting.runs are not stored: the view keeps every row, so filter by started_at.lte',
    ]);
    expect(validate('validators', { as_of: '2026-01-01' }).asOf).toBe('2026-01-01T00:00:00Z');
  });

  it('keep the microseconds of a time', () => {
    const { filters } = validate('metric_points', { 'valid_from.gt': '2026-01-01T02:00:00.123456+01:00' });
    expect(filters).toEqual([
      { column: 'valid_from', type: 'timestamptz', operator: 'gt', value: '2026-01-01T01:00:00.123456Z' },
    ]);
  });

  it('never become part of the statement', () => {
    const hostile = `'; drop schema reporting cascade; --`;
    const { text, values } = rowsStatement(
      viewOf('metric_points'),
      validate('metric_points', {
        metric: hostile,
        'chain_id.prefix': hostile,
        'metric.contains': hostile,
        after: `chain_id${JSON.stringify([hostile, hostile, hostile, hostile])}`,
      }),
    );
    expect(text).not.toContain('drop');
    expect(new Set(values)).toEqual(new Set([hostile]));
    const places = new Set([...text.matchAll(/\$(\d+)/g)].map(([, at]) => Number(at)));
    expect([...places].sort((one, other) => one - other)).toEqual(values.map((_, at) => at + 1));
  });

  it('of a middle page bound the first column alone, so that its index is used', () => {
    const { text } = rowsStatement(
      viewOf('runs'),
      validate('runs', { sort: '-run_id', after: '-run_id["7","subnets"]' }),
    );
    expect(text).toContain('r."run_id" <= $1::text::bigint and (r."run_id", r."dataset") <');
  });

  it('have unique names: a column with the name of another parameter is filtered by .eq', () => {
    let compared = 0;
    for (const relation of catalogue.views.values()) {
      const parameters = rowsParameters(relation);
      const reserved = [...GENERAL_PARAMETERS, ...(relation.parameters ?? []).map(({ name }) => name)];
      const both = relation.columns.filter(({ name, type }) => reserved.includes(name) && type === 'text');
      const needed = Object.fromEntries(
        (relation.parameters ?? [])
          .filter(({ preset }) => preset === undefined)
          .map(({ name, type }) => [name, type === 'timestamptz' ? '2026-01-01' : 'x']),
      );
      compared += both.length;
      for (const { name } of both)
        expect(
          validateParameters(parameters, { ...needed, [`${name}.eq`]: 'x' }).filters,
          relation.name,
        ).toEqual([{ column: name, type: 'text', operator: 'eq', value: 'x' }]);
    }
    expect(compared).toBeGreaterThan(0);
  });
});
