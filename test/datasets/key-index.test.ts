import { expect } from 'vitest';
import { catalog } from '../../src/datasets/catalog.ts';
import { keyColumnSql, POINT_VALUES } from '../../src/datasets/dataset.ts';
import { SERIES_ID, tableKeyColumns } from '../../src/datasets/target-columns.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, sql } = withDatabase();

/** The index of keys, and the predicate of its rows, by kind of history. */
const LOOKUPS = {
  log: { suffix: 'key', rows: 'valid_to is null' },
  state: { suffix: 'now', rows: 'valid_to is null' },
  series: { suffix: 'now', rows: POINT_VALUES.last },
};

const cases = catalog.flatMap((dataset) => {
  if (dataset.history === 'sample') return [];
  const byName = new Map(dataset.columns.map((column) => [column.name, column]));
  const key = tableKeyColumns(dataset).map((name) => ({
    expression: keyColumnSql(name, byName.get(name)?.nullable ?? false),
    type: name === SERIES_ID ? 'integer' : byName.get(name)?.type,
  }));
  return [{ name: dataset.name, key, ...LOOKUPS[dataset.history] }];
});

it.each(cases)(
  'finds a row of $name by the index of its key, also before there are statistics',
  async ({ name, key, suffix, rows }) => {
    const condition = key.map(({ expression, type }, at) => `${expression} = $${at + 1}::${type}`);
    const found = await sql.begin(async (work) => {
      await work`set local plan_cache_mode = force_generic_plan`;
      await work.unsafe(
        `prepare lookup as select valid_from from recorder.${name} where ${condition.join(' and ')} and (${rows})`,
      );
      const plan = await work.unsafe(`explain execute lookup(${key.map(() => 'null').join(', ')})`);
      await work`deallocate lookup`;
      return JSON.stringify(plan);
    });
    expect(found).toContain(`using ${name}_${suffix}`);
  },
);
