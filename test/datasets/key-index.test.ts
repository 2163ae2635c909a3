import { expect } from 'vitest';
import { catalog } from '../../src/datasets/catalog.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, sql } = withDatabase();

it.each(
  catalog
    .filter(({ history }) => history === 'log')
    .map(({ name, key, columns }) => ({ name, key, columns })),
)(
  'a row of $name is found by the index of its key, also before there are statistics',
  async ({ name, key, columns }) => {
    const typeOf = new Map(columns.map((column) => [column.name, column.type]));
    const condition = key.map((column, at) => `${column} = $${at + 1}::${typeOf.get(column)}`).join(' and ');
    const found = await sql.begin(async (work) => {
      await work`set local plan_cache_mode = force_generic_plan`;
      await work.unsafe(
        `prepare lookup as select valid_from from recorder.${name} where ${condition} and valid_to is null`,
      );
      const plan = await work.unsafe(`explain execute lookup(${key.map(() => 'null').join(', ')})`);
      await work`deallocate lookup`;
      return JSON.stringify(plan);
    });
    expect(found).toContain(`using ${name}_key`);
  },
);
