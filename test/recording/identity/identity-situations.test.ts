import { withDatabase } from '../../support/fixture.ts';
import { checkIdentitySituations } from './check-identity-situations.ts';
import { anyOrder, situationsOf } from './identity-situations.ts';

const { it, sql } = withDatabase({ max: 4 });

it.each([true, false])(
  'stores no row of one source in the history of another, reports each change, and continues after the fix (header: %s)',
  (hasHeader) => checkIdentitySituations(sql, hasHeader, anyOrder.chain(situationsOf)),
  120_000,
);
