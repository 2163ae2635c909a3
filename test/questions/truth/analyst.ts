import { avax, scaled, units } from '../decimals.ts';
import { LEDGER, MONTH_START, type World } from '../world.ts';
import { DAY, dayOf, iso, Question, type Row, SECOND } from './question.ts';
import { trueRows } from './truth.ts';

const MARCH = { from: '2026-03-02', to: '2026-04-01' };
const WEEK = { from: '2026-03-20', to: '2026-03-27' };
const text = (value: Row[string] | undefined) => String(value ?? '');

/** Groups rows by columns, and counts each group or sums a column of it. */
function groupRows(
  rows: readonly Row[],
  by: readonly string[],
  ...sums: readonly (readonly [string, string])[]
) {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify(by.map((column) => row[column]));
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].map((group): Row => {
    const total = (column: string) =>
      scaled(
        group.reduce((sum, row) => sum + units(text(row[column]), 9), 0n),
        9,
      );
    return {
      ...Object.fromEntries(by.map((column) => [column, group[0]?.[column] ?? null])),
      ...Object.fromEntries(
        sums.map(([name, column]) => [name, column === '*' ? String(group.length) : total(column)]),
      ),
    };
  });
}

const pick = (rows: readonly Row[], ...columns: readonly string[]) =>
  rows.map((row): Row => Object.fromEntries(columns.map((column) => [column, row[column] ?? null])));

const asAvax = (value: Row[string] | undefined) =>
  value === null || value === undefined ? null : avax(BigInt(text(value)));

function knownValues(world: World): Row[] {
  const bucket = Date.UTC(2026, 2, 10);
  return Array.from({ length: 10 }, (_, at) => dayOf(bucket + (at + 1) * DAY)).flatMap((day) =>
    new Question(world, { as_of: `${day}T12:00` })
      .points('43114', 'txCount', 'day', bucket, bucket + DAY)
      .map(({ value }) => ({ known_on: day, value })),
  );
}

function uptime(): Row {
  const seconds = { up: 0, down: 0, unknown: 0 };
  let at = MONTH_START;
  for (const { state, until } of LEDGER) {
    seconds[state] += (Math.min(until, Date.UTC(2026, 3, 1)) - at) / SECOND;
    at = until;
  }
  const { up, down, unknown } = seconds;
  return {
    node: 'validator-1',
    ...{ down_seconds: String(down), unknown_seconds: String(unknown), maintenance_seconds: '0' },
    // Hours divide both: exact to the compared digits.
    uptime: (up / (up + down)).toFixed(9),
    uptime_lower: (up / (up + down + unknown)).toFixed(9),
  };
}

function findReturned(movements: readonly Row[]): Row[] {
  return movements
    .filter(({ change }) => change === 'left')
    .flatMap(({ node_id = null, at = null }) => {
      const back = movements.filter(
        (one) => one.change === 'joined' && one.node_id === node_id && text(one.at) >= text(at),
      );
      const [first] = back.map((one) => text(one.at)).sort();
      return first === undefined ? [] : [{ node_id, left_at: at, returned_at: first }];
    });
}

/** Expected result of each query of docs/how-to/analyst-queries.md, from the sandbox's model, by its heading. */
export function analystRows(world: World): Readonly<Record<string, () => Row[]>> {
  const rows = (name: string, values: Readonly<Record<string, string>>) =>
    trueRows(world, name, values) ?? [];
  const movements = (to: string) => rows('validator_movements', { ...MARCH, to });
  const isIn = ({ due_at }: Row) => text(due_at) >= iso(Date.UTC(2026, 2, 2)) && text(due_at) < '2026-04-01';
  return {
    'What was known on past days?': () => knownValues(world),
    'Who joined, changed and left?': () =>
      groupRows(
        movements(MARCH.to).map((row) => ({ ...row, day: text(row.at).slice(0, 10) })),
        ['day', 'change'],
        ['validators', '*'],
      ),
    'How much is staked each day?': () =>
      pick(rows('stake_daily', MARCH), 'day', 'validators', 'stake_avax', 'delegated_avax'),
    'What was the uptime of a month?': () => [uptime()],
    'How many blocks did each validator propose each day?': () =>
      groupRows(rows('blocks_proposed', WEEK), ['day', 'node_id'], ['blocks', 'blocks']),
    'How much gas was used each week?': () =>
      rows('metric_week_over_week', { ...MARCH, metric: 'gasUsed', chain_id: '43114' })
        .filter(({ is_complete }) => is_complete === true)
        .map(({ week = null, value = null, change_percent = null }) => ({
          week,
          gas: value,
          change_percent,
        })),
    'What are the balances of the L1s?': () =>
      groupRows(
        rows('l1_balances', MARCH),
        ['day', 'subnet_id'],
        ['validators', '*'],
        ['balance_avax', 'balance_avax'],
      ),
    'Which subnets became L1s?': () =>
      rows('l1_changes', { ...MARCH, to: '2026-04-03' })
        .filter(({ change }) => change === 'converted')
        .map((row) => ({
          ...{ subnet_id: row.subnet_id ?? null, observed_at: row.at ?? null, manager: row.after ?? null },
          ...{ on_chain_at: row.on_chain_at ?? null, tx_hash: row.tx_hash ?? null },
        })),
    'Which rewards were expected, and which were received?': () =>
      rows('rewards', {})
        .filter(isIn)
        .map((row) => ({
          ...pick([row], 'due_at', 'staking_tx_hash', 'reward_type', 'state')[0],
          estimate_avax: asAvax(row.estimate),
          received_avax: asAvax(row.received),
          difference_avax: asAvax(row.difference),
        })),
    'Which delegations end?': () =>
      groupRows(
        rows('stake_expiring', { days: '30', as_of: '2026-04-02T12:00' })
          .filter(({ kind }) => kind === 'delegation')
          .map((row) => ({ ...row, day: text(row.end_time).slice(0, 10) })),
        ['day'],
        ['delegations', '*'],
        ['stake_avax', 'stake_avax'],
      ),
    'Who left and returned?': () => findReturned(movements('2026-04-03')),
    'What is missing?': () =>
      groupRows(rows('gaps_between', WEEK), ['dataset', 'reason'], ['ranges', '*'], ['seconds', 'seconds']),
  };
}
