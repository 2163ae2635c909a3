import type postgres from 'postgres';
import { PRIMARY_NETWORK } from '../../../datasets/node/current-validators.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { MyValidator } from '../../../reporting/reports/my-validators.ts';
import { type ChartRequest, parseChartRequest } from '../charts/chart-data.ts';
import { drawables } from '../charts/drawables.ts';
import { windowOfRecord } from '../charts/drawn-window.ts';
import { chartLink } from '../charts/link.ts';
import { readChartLines } from '../charts/read-lines.ts';
import { chartOf } from '../charts/zoom.tsx';
import { type Line, LineChart } from '../parts/line-chart.tsx';

/** A chart on the page of a validator. */
export interface ChartSection {
  readonly title: string;
  readonly request: ChartRequest;
  readonly lines: readonly Line[];
}

const WINDOW_MS = 30 * 86_400_000;

/** The charts of a validator, in the order of the page. */
const CHARTS: readonly {
  readonly of: string;
  readonly title: string;
  readonly columns?: readonly string[];
  /** Words for columns in the labels of the lines, by name of the column. Default: the name. */
  readonly words?: Readonly<Record<string, string>>;
  /** Set if the recorded values are in nAVAX, and converted to AVAX for the chart. */
  readonly isInNavax?: true;
  readonly isShown?: (one: MyValidator) => boolean;
  /** Returns the keys that select the lines of the validator. */
  keys(one: MyValidator): Readonly<Record<string, string>>;
}[] = [
  {
    of: 'validator_uptime',
    title: 'Uptime observed by each configured node, in percent',
    keys: ({ node_id }) => ({ subnet_id: PRIMARY_NETWORK, node_id }),
  },
  {
    of: 'node_validators',
    title: 'Stake and delegations, in AVAX',
    columns: ['stake_navax', 'delegator_weight'],
    words: { stake_navax: 'stake', delegator_weight: 'delegations' },
    isInNavax: true,
    // The response of a single node is sufficient, because all nodes report the same stake.
    keys: ({ node_id, uptime_seen_by, node: own }) => {
      const node = uptime_seen_by ?? own;
      return { subnet_id: PRIMARY_NETWORK, node_id, ...(node === null ? {} : { node }) };
    },
  },
  {
    of: 'blocks_proposed',
    title: 'Proposed blocks, and the number expected from the stake, per day',
    columns: ['blocks', 'expected_blocks'],
    words: { expected_blocks: 'expected blocks' },
    keys: ({ node_id }) => ({ node_id }),
  },
  {
    of: 'l1_balances',
    title: 'Balance on L1s, in AVAX',
    isShown: ({ l1_validations }) => l1_validations > 0,
    keys: ({ node_id }) => ({ node_id }),
  },
];

/** Reads the charts of a validator that have points. */
export async function readValidatorCharts(
  sql: postgres.Sql,
  validator: MyValidator,
  clock: Clock,
): Promise<ChartSection[]> {
  const sections: ChartSection[] = [];
  const to = new Date(clock());
  for (const { of, title, columns, keys, isShown, words = {}, isInNavax } of CHARTS) {
    const drawable = drawables.get(of);
    if (!drawable || isShown?.(validator) === false) continue;
    const request = parseChartRequest(
      drawable,
      {
        ...{
          column: columns?.join(','),
          by: undefined,
          as_of: null,
          beside: null,
          selected: keys(validator),
        },
        ...{ from: new Date(to.getTime() - WINDOW_MS), to },
      },
      to.getTime(),
    );
    const found = await readChartLines(sql, request, clock);
    if (!found.lines.some(({ points }) => points.some(([, value]) => value !== null))) continue;
    const lines = found.lines.map((line) => describeLine(line, words, isInNavax === true));
    sections.push({ title, request, lines });
  }
  return sections;
}

function describeLine(
  { label, points, ...line }: Line,
  words: Readonly<Record<string, string>>,
  isInNavax: boolean,
): Line {
  return {
    ...line,
    label: label.replaceAll(/\w+/g, (word) => words[word] ?? word),
    points: isInNavax
      ? points.map(([at, value]) => [at, value === null ? null : avaxOfNavax(value)])
      : points,
  };
}

/**
 * Converts an amount in nAVAX to AVAX, without rounding.
 * @param navax a whole number, as text
 */
export function avaxOfNavax(navax: string): string {
  const amount = BigInt(navax);
  const digits = String(amount < 0n ? -amount : amount).padStart(10, '0');
  const fraction = digits.slice(-9).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -9)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** A chart with its heading and the link to the whole chart. */
export function ValidatorChart({ section: { title, request, lines } }: { readonly section: ChartSection }) {
  const { drawable, window } = request;
  const id = `chart-of-${drawable.name}`;
  return (
    <section aria-labelledby={id}>
      <div class="head">
        <h2 id={id}>{title}</h2>
        <a href={chartLink({ ...chartOf(request), to: null })}>Open chart</a>
      </div>
      <LineChart
        name={drawable.name}
        lines={lines}
        title={title}
        window={windowOfRecord([window[0].getTime(), window[1].getTime()], lines, true)}
        draws={drawable.draws}
      />
    </section>
  );
}
