/** Reason why a server cannot listen: the invalid setting, the cause, and the fix. */
export interface ListenError {
  readonly setting: 'RECORDER_HOST' | 'RECORDER_PORT';
  readonly cause: string;
  readonly fix: string;
  /** True if another process listens on the port. */
  readonly isPortInUse: boolean;
}

/**
 * Returns the reason of an error of `listen`.
 * @returns null if the error has another cause than the host or the port
 */
export function explainListenError(error: unknown, host: string, port: number): ListenError | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const at = `${host}:${port}`;
  switch (code) {
    case 'EADDRINUSE':
      return {
        setting: 'RECORDER_PORT',
        cause: `${at} is in use`,
        fix: 'set another port',
        isPortInUse: true,
      };
    case 'EACCES':
      return {
        setting: 'RECORDER_PORT',
        cause: `this user has no permission to listen on ${at}`,
        fix: 'set a port above 1023, and let a reverse proxy listen on the lower one',
        isPortInUse: false,
      };
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        setting: 'RECORDER_HOST',
        cause: `${host} is not an address of this machine`,
        fix: 'set 127.0.0.1 for this machine only, 0.0.0.0 for all its addresses, or one that "hostname -I" lists',
        isPortInUse: false,
      };
    default:
      return null;
  }
}
