import { withDatabase } from '../../support/fixture.ts';
import { checkIdentitySituations } from './check-identity-situations.ts';

const { it, sql } = withDatabase({ max: 4 });

it.each([true, false])(
  'in ten orders of the situations, stores no row of one source in the history of another (header: %s)',
  (hasHeader) => checkIdentitySituations(sql, hasHeader, 10),
  300_000,
);
