import { afterAll, beforeAll, expect } from 'vitest';
import { withDatabase } from '../../support/fixture.ts';
import { ComparedSources } from './compared-sources.ts';

const { it, database, sql } = withDatabase({ max: 4 });
let sources: ComparedSources;
beforeAll(async () => {
  sources = await ComparedSources.open(database.url, sql);
});
afterAll(() => sources?.close());

it('find nothing in a day of nodes and services that lag, fail, restart and list few members', async () => {
  const versions = await sources.recordHonestSources(24);
  expect(versions.validators).toBeGreaterThan(10);
  expect(versions.balances).toBeGreaterThan(0);
});
