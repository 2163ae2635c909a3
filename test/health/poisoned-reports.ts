/** A health report as a node sends it, and its meaning. */
export interface PoisonedReport {
  readonly status: number;
  readonly body: Buffer;
  /** The intended meaning; the parser detects a body that is no JSON. */
  readonly healthy: boolean;
  /** The kind of the poison; null: none. */
  readonly poison: string | null;
}

/** 0 to 1. */
type Random = () => number;

const quoted = (text: string) => JSON.stringify(text);
const pick = <T>(random: Random, values: readonly T[]): T => {
  const one = values[Math.floor(random() * values.length)];
  if (one === undefined) throw new Error('nothing to pick from');
  return one;
};

/** Texts that PostgreSQL accepts neither as text nor within JSON, texts that only look like them, and unusual ones. */
const CHARACTERS = [
  '\0',
  'a\0b',
  '\ud800',
  '\udfffx',
  '\\u0000',
  '\\\0',
  '\ufffe\uffff',
  '\u202e',
  "'; drop",
  '%s$1',
];
/** Numbers beyond numeric (131072 digits before the point, 16383 after it), and at its limits. */
const NUMBERS = [
  '1e200000',
  '-1e131073',
  '1e-20000',
  '1e131071',
  '1e-16383',
  '1e99999999999999999999',
  '0e999999999',
  '-0',
  '1'.repeat(131_073),
  `0.${'1'.repeat(16_384)}`,
  `1${'0'.repeat(400)}`,
];
/** An index accepts 2,704 bytes; a text and a JSON string accept many more. */
const LENGTHS = [300, 2_600, 2_705, 8_192, 100_000, 1_000_000];
const DEPTHS = [60, 501, 3_000, 10_000];
const INSTANTS = [
  'infinity',
  'epoch',
  'now',
  '294277-01-01T00:00:00Z',
  '0000-00-00T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '',
  '\0',
];
const VALUES = [
  'null',
  'true',
  '0',
  '-1',
  '[]',
  '{}',
  '[[[]]]',
  '{"message":{}}',
  '{"toString":1}',
  '9223372036854775808',
  '"x"',
];
const NAMES = ['*', '__proto__', 'constructor', 'toString', '', ' ', '(more)', '"*"', '\n', '$'];

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

/** A poisoned member of `checks`: its JSON, and the kind of the poison. */
function createPoisonedMember(random: Random): { json: string; poison: string } {
  const check = (members: string) => `{"timestamp":"2026-01-01T00:00:00Z",${members}}`;
  const failing = (message: string) => check(`"error":"ill","message":${message}`);
  const text = () => `${pick(random, CHARACTERS)}${'x'.repeat(random() < 0.5 ? 0 : 5)}`;
  const kinds: Record<string, () => string> = {
    type: () => `"odd":${pick(random, [...VALUES.map((value) => check(`"error":${value}`)), ...VALUES])}`,
    'own account': () =>
      `"odd":${check(`"error":"ill","timeOfFirstFailure":${pick(random, [...INSTANTS.map(quoted), ...VALUES])},"contiguousFailures":${pick(random, [...VALUES, ...NUMBERS])}`)}`,
    instant: () => `"odd":{"timestamp":${pick(random, [...INSTANTS.map(quoted), ...VALUES])}}`,
    'encoding of a name': () => `${quoted(text())}:${failing('1')}`,
    'encoding of an error': () => `"odd":${check(`"error":${quoted(text())}`)}`,
    'encoding in a message': () => `"odd":${failing(`{${quoted(text())}:[${quoted(text())}]}`)}`,
    'a number': () => `"odd":${failing(`{"n":${pick(random, NUMBERS)}}`)}`,
    'size of a name': () =>
      `${quoted(pick(random, ['n', 'é', '💡']).repeat(pick(random, LENGTHS)))}:${failing('1')}`,
    'size of an error': () => `"odd":${check(`"error":${quoted('e '.repeat(pick(random, LENGTHS)))}`)}`,
    'size of a message': () => `"odd":${failing(`[${Array(pick(random, LENGTHS)).fill('1').join()}]`)}`,
    'many checks': () =>
      Array.from(
        { length: 5_000 },
        (_, n) => `"many-${n}":${n % 2 === 0 ? failing('1') : check('"duration":1')}`,
      ).join(),
    'names that clash': () => `"a\\u0000":${failing('1')},"a\\\\u0000":${check('"duration":1')}`,
    'the same name twice': () => `"twice":${failing('1')},"twice":${check('"duration":1')}`,
    'a name that means something': () =>
      `${quoted(pick(random, NAMES))}:${random() < 0.5 ? failing('1') : check('"duration":1')}`,
    'a clash in a message': () =>
      `"odd":${failing('{"a":1,"a":2,"__proto__":{"b":1},"\\u0000":1,"\\\\u0000":2}')}`,
    nesting: () => {
      const depth = pick(random, DEPTHS);
      const deep = pick(random, [
        nested(depth, '[', ']'),
        nested(depth, '{"a":', '}').replace('{"a":}', '{}'),
      ]);
      return `"odd":${random() < 0.5 ? failing(deep) : check(`"error":${deep}`)}`;
    },
  };
  const poison = pick(random, Object.keys(kinds));
  return { poison, json: kinds[poison]?.() ?? '' };
}

/** Poisons of the complete report: after these it does not contain the node's health. */
export const UNREADABLE: Readonly<Record<string, (body: string) => Buffer>> = {
  'bad UTF-8': (body) =>
    Buffer.concat([Buffer.from(body.slice(0, -1)), Buffer.from([0x2c, 0x22, 0xff, 0x22])]),
  'cut short': (body) => Buffer.from(body.slice(0, body.length / 2)),
  'another shape': () => Buffer.from('[1,2,3]'),
  'health that is no flag': (body) => Buffer.from(body.replace(/"healthy":(true|false)/, '"healthy":"$1"')),
};

/** A report of a node at a moment (ms since 1970). @param poisoned whether it has a poison */
export function createReport(
  random: Random,
  at: number,
  healthy: boolean,
  poisoned: boolean,
): PoisonedReport {
  const timestamp = quoted(new Date(at).toISOString());
  const seconds = (random() * 100).toFixed(1);
  const checks = [
    `"C":{"message":{"n":${random()}},"timestamp":${timestamp}}`,
    healthy
      ? `"network":{"timestamp":${timestamp}}`
      : `"network":{"error":"no message for ${seconds}s","message":{"connectedPeers":${Math.floor(random() * 9)}},"timestamp":${timestamp},"contiguousFailures":${Math.floor(random() * 9)}}`,
  ];
  const member = poisoned ? createPoisonedMember(random) : null;
  if (member) checks.splice(Math.floor(random() * 3), 0, member.json);
  const body = `{"checks":{${checks.join()}},"healthy":${healthy}}`;
  const status = healthy ? 200 : 503;
  if (!poisoned || random() > 0.1)
    return { status, body: Buffer.from(body), healthy, poison: member?.poison ?? null };
  const poison = pick(random, Object.keys(UNREADABLE));
  return { status, body: UNREADABLE[poison]?.(body) ?? Buffer.alloc(0), healthy: false, poison };
}
