import { buildConnector } from 'undici';

/**
 * Timeout per address of a name in the first round, in ms, so that a probe does not spend its time on an
 * unreachable address.
 */
const FIRST_ROUND_TIMEOUT_MS = 250;
/** Timeout per address in the second round, in ms. */
const SECOND_ROUND_TIMEOUT_MS = 4_000;

/**
 * Returns a connector that uses the first address of a name that accepts the connection. With several
 * addresses, each is abandoned after {@link FIRST_ROUND_TIMEOUT_MS} ms. This alone would fail for a slow IPv4 address, or a
 * lost packet, together with an unreachable IPv6 address. So if all addresses fail and one of them timed out,
 * they are tried again with a longer timeout.
 */
export function createConnector(options: buildConnector.BuildOptions = {}): buildConnector.connector {
  const hasty = buildConnector({ ...options, autoSelectFamilyAttemptTimeout: FIRST_ROUND_TIMEOUT_MS });
  const patient = buildConnector({ ...options, autoSelectFamilyAttemptTimeout: SECOND_ROUND_TIMEOUT_MS });
  return (place, callback) =>
    hasty(place, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else if (hasTimeout(error)) patient(place, callback);
      else callback(error, null);
    });
}

const hasTimeout = (error: Error) =>
  error instanceof AggregateError && error.errors.some((one) => one?.code === 'ETIMEDOUT');
