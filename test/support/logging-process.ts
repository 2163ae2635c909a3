import { openLog } from '../../src/log.ts';

/** Logs, waits until what it was told to do next is there, logs more, and ends at once. */
const log = openLog({ logLevel: 'info', logJson: true });
log.info('one');
log.info('two');
process.stdout.write('logged\n');
process.stdin.once('data', () => {
  log.info('three');
  log.info({ long: 'x'.repeat(200_000) }, 'four');
  log.info('five');
  process.stdout.write('again\n', () => process.exit(0));
});
