import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/** How long an address of a name gets where there is another one, ms: a first packet that is lost is sent again after one second. */
const PATIENCE = 2_000;

/**
 * Lets this process reach servers whose connections take longer than the 250 ms after which Node.js gives an address up where the name has
 * another one: with an address that leads nowhere behind it, a PostgreSQL, a Redis or a mail server that is far away would never be
 * reached. For the whole process, because the drivers let nobody say it for their connections.
 */
export function waitForSlowAddresses(): void {
  setDefaultAutoSelectFamilyAttemptTimeout(PATIENCE);
}
