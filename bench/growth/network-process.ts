import { ManualClock } from '../../sandbox/clock.ts';
import { startSandbox } from '../../sandbox/server.ts';

/** How old the network is when it starts, ms: young, so that what there is of it is little. */
const AGE = 86_400_000;

/**
 * The simulated network as one process of the benchmark. Its clock stands still until its parent sends by how many ms it continues.
 * Argument: when it starts, in ms since 1970. Says to its parent what there is to watch, and then the time, each time it has gone on.
 */
const clock = new ManualClock(Number(process.argv[2]));
const sandbox = await startSandbox({
  incidents: false,
  clock: clock.now,
  advance: clock.advance,
  genesisMs: clock.now() - AGE,
});
process.once('disconnect', () => process.exit()); // the parent is gone
process.on('message', (milliseconds) => {
  clock.advance(Number(milliseconds));
  process.send?.({ now: clock.now() });
});
process.send?.({ url: sandbox.url, ...sandbox.watch });
