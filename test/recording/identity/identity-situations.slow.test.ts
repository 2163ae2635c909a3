import { expect } from 'vitest';
import { withDatabase } from '../../support/fixture.ts';
import { checkIdentitySituations } from './check-identity-situations.ts';
import { balancedOrders, reasons, situationsOf } from './identity-situations.ts';

const { it, sql } = withDatabase({ max: 4 });

it('orders the situations so that each follows each other one', () => {
  const kinds = Object.keys(reasons).length;
  const pairs = balancedOrders.flatMap((order) => order.slice(1).map((kind, at) => `${order[at]} ${kind}`));
  expect(new Set(pairs).size).toBe(kinds * (kinds - 1));
});

it.each([true, false])(
  'in six orders of the situations, stores no row of one source in the history of another (header: %s)',
  async (hasHeader) => {
    for (const order of balancedOrders) await checkIdentitySituations(sql, hasHeader, situationsOf(order));
  },
  300_000,
);
