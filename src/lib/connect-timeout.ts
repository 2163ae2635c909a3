import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/**
 * Connect timeout of one address if the host name has several addresses, in ms. TCP resends a lost first
 * packet after one second.
 */
const ADDRESS_CONNECT_TIMEOUT_MS = 2_000;

/**
 * Raises the connect timeout for host names with several addresses. By default, Node.js stops connecting to
 * an address after 250 ms if the name has another address. If the other address is unreachable, a distant
 * PostgreSQL, Redis or mail server could then never be reached. The setting is process-wide because the
 * drivers have no option for single connections.
 */
export function raiseConnectTimeout(): void {
  setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_CONNECT_TIMEOUT_MS);
}
