import { type EventEmitter, errorMonitor } from 'node:events';
import { openLog } from '../../src/telemetry/log.ts';

/**
 * Logs, waits for a signal to continue, logs more, and ends at once. If it loses its terminal it logs, and reports
 * that it still runs.
 */
const log = openLog({ logLevel: 'info', logJson: !process.stderr.isTTY });
log.info('one');
log.info('two');
process.stdout.write('logged\n');
process.stdin.once('data', () => {
  log.info('three');
  log.info({ long: 'x'.repeat(200_000) }, 'four');
  log.info('five');
  process.stdout.write('again\n', () => process.exit(0));
});
const stderr: EventEmitter = process.stderr;
process.on('SIGHUP', () => {
  log.info('the terminal is closed');
  stderr.once(errorMonitor, () => setImmediate(() => process.stdout.write('outlived\n')));
});
