import { buildConnector } from 'undici';

/** How long each address of a name gets in the first round, ms: a probe must not spend its time on one that leads nowhere. */
const HASTE = 250;
/** And in the second. */
const PATIENCE = 4_000;

/**
 * Connects to the first address of a name that answers. Where there is another one, an address is given up after {@link HASTE}: a name
 * whose IPv4 address is far away, or loses the first packet, and whose IPv6 address leads nowhere from here, could not be reached. So
 * where all of them failed, and one was given up, they are tried again with patience.
 */
export function patientConnector(options: buildConnector.BuildOptions = {}): buildConnector.connector {
  const hasty = buildConnector({ ...options, autoSelectFamilyAttemptTimeout: HASTE });
  const patient = buildConnector({ ...options, autoSelectFamilyAttemptTimeout: PATIENCE });
  return (place, callback) =>
    hasty(place, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else if (gaveUp(error)) patient(place, callback);
      else callback(error, null);
    });
}

const gaveUp = (error: Error) =>
  error instanceof AggregateError && error.errors.some((one) => one?.code === 'ETIMEDOUT');
