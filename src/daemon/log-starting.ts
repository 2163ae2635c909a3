import { readEnvironment } from '../config/environment.ts';
import { readVersion } from '../lib/version.ts';
import { openLog } from '../telemetry/log.ts';

/**
 * Logs that the recorder starts, before its modules are loaded and its database is started.
 * @throws UsageError if the environment is invalid
 */
export function logStarting(): void {
  const { logLevel = 'info', logJson } = readEnvironment();
  openLog({ logLevel, logJson }).info({ version: readVersion(), directory: process.cwd() }, 'starting');
}
