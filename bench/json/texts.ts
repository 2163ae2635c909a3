import { numbers } from '../chance.ts';
import { Blocks } from '../service/blocks.ts';
import { HOURS, metricPage, NEWEST_HOUR, transactionPage, validatorList } from '../service/list-responses.ts';

/** An answer of a kind, another one for each version. */
export interface Kind {
  readonly name: string;
  /** The most that exact JSON may take, times `JSON.parse`. */
  readonly maxFactor: number;
  readonly text: (version: number) => string;
}

const MAX_FACTOR_SHORT_NUMBERS = 1.6;
const MAX_FACTOR_LONG_NUMBERS = 3;

const blocks = new Blocks(2_000);

/** The answers that exact JSON is measured on, without long numbers and with them. */
export const kinds: readonly Kind[] = [
  {
    name: '100 blocks',
    maxFactor: MAX_FACTOR_SHORT_NUMBERS,
    text: (version) => `{"blocks":[${blocks.slice(version * 100, version * 100 + 100)}]}`,
  },
  {
    name: '100 native transactions',
    maxFactor: MAX_FACTOR_SHORT_NUMBERS,
    text: (version) => transactionPage(`/${version}`, 0),
  },
  { name: '900 validators', maxFactor: MAX_FACTOR_SHORT_NUMBERS, text: validatorList },
  { name: '2,160 points', maxFactor: MAX_FACTOR_SHORT_NUMBERS, text: metricPage },
  {
    name: '2,160 points, every other one a short decimal',
    maxFactor: MAX_FACTOR_SHORT_NUMBERS,
    text: (version) => points(version, (at, random) => (at % 2 === 0 ? cents(random) : count(random))),
  },
  {
    name: '900 validators, one member in fifteen long',
    maxFactor: MAX_FACTOR_LONG_NUMBERS,
    text: (version) =>
      validatorList(version).replace(/"weight":"(\d+)"/g, (_, weight) => `"weight":18446${weight}`),
  },
  {
    name: '2,160 points, every other one long, between counts',
    maxFactor: MAX_FACTOR_LONG_NUMBERS,
    text: (version) => points(version, (at, random) => (at % 2 === 0 ? long(random) : count(random))),
  },
  {
    name: '2,160 points, every other one long, between decimals',
    maxFactor: MAX_FACTOR_LONG_NUMBERS,
    text: (version) => points(version, (at, random) => (at % 2 === 0 ? long(random) : cents(random))),
  },
  {
    name: '2,160 points, all long',
    maxFactor: MAX_FACTOR_LONG_NUMBERS,
    text: (version) => points(version, (_, random) => long(random)),
  },
  {
    name: '2,160 points, all long decimals',
    maxFactor: MAX_FACTOR_LONG_NUMBERS,
    text: (version) => points(version, (_, random) => `${count(random)}.${long(random)}`),
  },
  {
    name: '2,160 points, all decimals of 17 digits, which a double holds',
    maxFactor: MAX_FACTOR_LONG_NUMBERS,
    text: (version) => points(version, (_, random) => String(random() * 1000)),
  },
];

type DrawValue = (at: number, random: () => number) => string;

/** A page of hourly points, newest first. */
function points(version: number, value: DrawValue): string {
  const random = numbers(version + 1);
  const results = Array.from(
    { length: HOURS },
    (_, at) => `{"value":${value(at, random)},"timestamp":${NEWEST_HOUR - at * 3600}}`,
  );
  return `{"results":[${results.join()}]}`;
}

const count = (random: () => number) => String(Math.floor(random() * 1_000_000));
const cents = (random: () => number) => (random() * 1000).toFixed(2);
/** A whole number beyond 2^64. */
const long = (random: () => number) =>
  `${18_446_744_073 + Math.floor(random() * 1e10)}${count(random)}`.padEnd(21, '7');
