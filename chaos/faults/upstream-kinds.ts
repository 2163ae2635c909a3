import type { FaultKind } from '../../sandbox/faults/kinds.ts';
import type { Letter } from '../invariants/invariant.ts';
import { Steady } from '../steady.ts';
import { until } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

/** An upstream with invalid responses to a share of its calls for a while, and then with valid ones. */
interface FaultPeriod {
  readonly numbers: readonly number[];
  readonly title: string;
  readonly kinds: readonly FaultKind[];
  /** Only calls with this in their path or query. */
  readonly target?: string;
  /** Share of the calls, for each kind. */
  readonly rate: number;
  readonly invariants: readonly Letter[];
  /** The spell ends once each kind was served this many times. */
  readonly times?: number;
  readonly sizes?: Parameters<World['sandbox']['faults']['tune']>[0];
  /** Further conditions after the recovery. */
  readonly also?: (world: World) => Promise<void>;
}

const MEMORY = 256;

/** Runs `up` through such a spell, after which everything must be recorded. */
function faultPeriod({
  numbers,
  title,
  kinds,
  rate,
  invariants,
  times = 3,
  sizes,
  also,
  target,
}: FaultPeriod): Fault {
  return {
    numbers,
    title,
    backends: 'each',
    invariants: [...invariants, 'G', 'H'],
    sandbox: { blocksPerHour: 60 },
    async inject(world) {
      const { sandbox, evidence } = world;
      if (sizes) sandbox.faults.tune(sizes);
      for (const kind of kinds) sandbox.faults.rate({ [kind]: rate }, target === undefined ? {} : { target });
      const steady = await Steady.start(world, { days: 3 });
      await until(
        `each of ${kinds.join(', ')} to be served ${times} times`,
        () => kinds.every((kind) => (sandbox.ledger.faults()[kind] ?? 0) >= times),
        120_000,
      );
      sandbox.faults.clear();
      await steady.expectRecovery(title);
      await steady.waitUntilCovered();
      for (const recorder of steady.running) {
        evidence.bound('memory of up, in MiB', await recorder.samplePeakMemory(), MEMORY);
        evidence.bound('log lines of up', recorder.lineCount, 500);
      }
      await longErrors(world);
      await also?.(world);
      await steady.stop();
    },
  };
}

/** The stored part of an invalid response is short. */
async function longErrors({ sql, evidence }: World): Promise<void> {
  const [row] = await sql<
    { longest: number }[]
  >`select coalesce(max(length(error)), 0)::int as longest from recorder.runs`;
  evidence.bound('characters stored of an invalid response', row?.longest ?? 0, 512);
}

export const upstreamKindFaults: readonly Fault[] = [
  faultPeriod({
    numbers: [21],
    title: '400 and 404 to a page token',
    kinds: ['token-dead', '404'],
    target: 'pageToken=',
    rate: 0.12,
    invariants: ['A', 'B', 'C', 'E'],
  }),
  faultPeriod({
    numbers: [24],
    title: 'empty pages with a token',
    kinds: ['empty-page'],
    rate: 0.3,
    times: 12,
    invariants: ['A', 'B', 'C', 'E'],
  }),
  faultPeriod({
    numbers: [26],
    title: 'duplicates across pages, ties at a boundary',
    kinds: ['duplicate-items'],
    rate: 0.4,
    times: 10,
    invariants: ['A', 'B', 'C', 'E'],
  }),
  faultPeriod({
    numbers: [29],
    title: 'bursts of 5xx, 502 in HTML',
    kinds: ['500', '502', '502-html', '503', '504-html'],
    rate: 0.09,
    invariants: ['A', 'C', 'E'],
  }),
  faultPeriod({
    numbers: [31],
    title: 'truncated JSON: by length, in chunks, by end of stream',
    kinds: ['truncated-length', 'truncated-chunked', 'truncated-close'],
    rate: 0.12,
    invariants: ['A', 'B', 'C', 'E'],
  }),
  faultPeriod({
    numbers: [32],
    title: 'garbage, wrong content type, BOM, bad UTF-8',
    kinds: ['garbage', 'html', 'wrong-content-type', 'bom', 'bad-utf8', 'empty-body'],
    rate: 0.06,
    invariants: ['A', 'C', 'E'],
  }),
  faultPeriod({
    numbers: [33],
    title: '1 GB body, gzip bomb',
    kinds: ['huge-body', 'gzip-bomb'],
    rate: 0.2,
    times: 4,
    invariants: ['A', 'C', 'E'],
  }),
  faultPeriod({
    numbers: [34],
    title: 'JSON two million levels deep',
    kinds: ['deep-nesting'],
    rate: 0.3,
    times: 6,
    invariants: ['A', 'C', 'E'],
  }),
  faultPeriod({
    numbers: [35],
    title: 'slow headers, slow body',
    kinds: ['slow-headers', 'slow-body', 'stall'],
    rate: 0.1,
    times: 2,
    invariants: ['A', 'C', 'E'],
  }),
  faultPeriod({
    numbers: [36],
    title: 'connection reset on a kept-alive socket',
    kinds: ['reset'],
    rate: 0.3,
    times: 10,
    invariants: ['A', 'B', 'C', 'E'],
  }),
  faultPeriod({
    numbers: [38, 40],
    title: 'NaN, negative counts, null or missing fields, U+0000, lone surrogates, 1 MB strings',
    kinds: [
      'nan-string',
      'negative',
      'null-field',
      'missing-field',
      'nul-character',
      'lone-surrogate',
      'long-string',
    ],
    rate: 0.05,
    times: 2,
    invariants: ['B', 'C', 'E'],
    also: claimQuarantined,
  }),
  faultPeriod({
    numbers: [39, 41],
    title: 'unknown enum values, extra fields, __proto__ and constructor as keys',
    kinds: ['unknown-enum', 'extra-field', 'proto-key'],
    rate: 0.12,
    invariants: ['A', 'B', 'C', 'E'],
    also: claimUnknownValuesStored,
  }),
];

/** Items that could not be decoded were quarantined, and the others of their pages stored. */
async function claimQuarantined({ sql, evidence }: World): Promise<void> {
  const [row] = await sql<{ n: number }[]>`select count(*)::int as n from recorder.quarantine`;
  evidence.claim('something was quarantined', (row?.n ?? 0) > 0);
  evidence.figures.set('quarantined', row?.n ?? 0);
}

/** Unknown values are stored with the known ones. */
async function claimUnknownValuesStored({ sql, evidence }: World): Promise<void> {
  const [row] = await sql<{ extra: number; proto: number; unknown: number }[]>`
    select (count(*) filter (where extra ? 'fieldOfTomorrow'))::int as extra,
      (count(*) filter (where extra ? '__proto__'))::int as proto,
      (count(*) filter (where block_type = 'SomethingNobodyKnowsTx'))::int as unknown from recorder.proposed_blocks`;
  evidence.claim('extra fields were stored', (row?.extra ?? 0) > 0);
  evidence.claim('a field called __proto__ was stored', (row?.proto ?? 0) > 0);
  evidence.claim('an unknown value of an enumeration was stored', (row?.unknown ?? 0) > 0);
}
