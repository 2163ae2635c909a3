import { HostileUpstream } from '../servers/hostile-upstream.ts';
import { Steady } from '../steady.ts';
import { until } from '../until.ts';
import type { Fault } from './fault.ts';

/** 31 to 44 all at once, and random responses: no crash, no growth, and complete records afterwards. */
export const hostile: Fault = {
  numbers: [44],
  title: 'hostile responses of every kind (31 to 44) at once',
  backends: 'each',
  invariants: ['B', 'E', 'G', 'H'],
  sandbox: { blocksPerHour: 30 },
  async inject(world) {
    const { evidence, sandbox, setting } = world;
    const responseCount = setting.options.rows ?? 300;
    const upstream = await HostileUpstream.open(sandbox.url, setting.options.seed);
    world.closers.add(() => upstream.close());
    sandbox.faults.rate({
      garbage: 0.05,
      'wrong-content-type': 0.05,
      bom: 0.05,
      'bad-utf8': 0.05,
      'deep-nesting': 0.01,
      'empty-body': 0.05,
      'truncated-length': 0.05,
      'truncated-chunked': 0.05,
      'truncated-close': 0.05,
      'gzip-bomb': 0.002,
      'huge-body': 0.001,
      'null-item': 0.05,
      'null-field': 0.05,
      'missing-field': 0.05,
      'nan-string': 0.05,
      negative: 0.05,
      'huge-integer': 0.05,
      'huge-exponent': 0.05,
      'minus-zero': 0.05,
      'long-digits': 0.05,
      'long-string': 0.03,
      'unknown-enum': 0.05,
      'extra-field': 0.05,
      'nul-character': 0.05,
      'lone-surrogate': 0.05,
      'proto-key': 0.05,
      'other-hash': 0.05,
      'empty-page': 0.05,
      'duplicate-items': 0.05,
      reset: 0.05,
    });
    const steady = await Steady.start(world, { watch: 40, days: 3, chainData: { url: upstream.url } });
    world.watched.length = 0;
    const countHostileResponses = () =>
      upstream.invented + Object.values(sandbox.ledger.faults()).reduce((sum, n) => sum + n, 0);
    const [recorder] = steady.running;
    await until(
      `${responseCount} hostile responses`,
      async () => {
        await recorder?.samplePeakMemory();
        return countHostileResponses() >= responseCount || recorder?.running === false;
      },
      responseCount * 1_000 + 120_000,
    );
    evidence.claim('the process lives on', recorder?.running === true);
    sandbox.faults.clear();
    upstream.hostility = 0;
    await steady.expectRecovery('answers were right again');
    evidence.figures.set('hostile responses', countHostileResponses());
    evidence.bound('memory of up, in MiB', (await recorder?.samplePeakMemory()) ?? 0, 256);
    evidence.figures.set('peak memory', `${recorder?.peak} MiB`);
    evidence.bound(
      'log lines for each hostile answer',
      (recorder?.lineCount ?? 0) / countHostileResponses(),
      1.2,
    );
    await steady.stop();
    evidence.serve('invented answer', upstream.invented);
  },
};
