import { ManualClock } from '../../sandbox/clock.ts';
import { startSandbox } from '../../sandbox/server.ts';

/** Age of the network at its start, ms: young, so that it is small. */
const AGE = 86_400_000;

/**
 * The simulated network as a process of the benchmark. Its clock is stopped until its parent sends a number of ms.
 * Argument: its start, in ms since 1970. Sends its parent the targets to watch, and then the time after each change.
 */
const clock = new ManualClock(Number(process.argv[2]));
const sandbox = await startSandbox({
  incidents: false,
  clock: clock.now,
  advance: clock.advance,
  genesisMs: clock.now() - AGE,
});
process.once('disconnect', () => process.exit()); // the parent has ended
process.on('message', (milliseconds) => {
  clock.advance(Number(milliseconds));
  process.send?.({ now: clock.now() });
});
process.send?.({ url: sandbox.url, ...sandbox.watch });
