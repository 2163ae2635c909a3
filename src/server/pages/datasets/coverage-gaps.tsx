import { recordedNamed } from '../../../reporting/recorded-datasets.ts';
import type { DatasetRelations } from '../../../reporting/relations/catalogue.ts';
import { NOT_RECORDED_YET } from '../../../reporting/relations/coverage-days.ts';
import type { Row } from '../../../reporting/relations/rows.ts';
import type { Value } from '../../../reporting/relations/values.ts';
import { Table, type TableColumn } from '../parts/table.tsx';
import { ValueText } from '../parts/value.tsx';
import type { CoverageRecord } from './coverage-page.tsx';
import { CopyableText } from './page-data.tsx';

/** Returns the command that fetches all gaps of a dataset that can still be fetched. */
export const formatHealCommand = ({ name }: DatasetRelations): string => `chain-recorder heal ${name}`;

/**
 * Returns the command that fetches a gap, or the reason why there is none.
 * @param gap a row of `reporting.gaps`
 */
export function fixOfGap(
  dataset: DatasetRelations,
  gap: Row,
): { readonly command: string } | { readonly none: string } {
  if (dataset.kind === 'ledger') return { none: 'The state stays unknown: no observer probed at that time.' };
  const axis = axisOf(dataset);
  if (gap.reason !== NOT_RECORDED_YET || axis === null) return { none: 'The data can no longer be fetched.' };
  const { target, range_start: from, range_end: to } = gap;
  // The name of a target may contain the hash of a long value instead of the value.
  const isHashed = String(target).includes('=sha256:');
  if (axis === 'height' || typeof from !== 'string' || typeof to !== 'string' || isHashed)
    return { command: formatHealCommand(dataset) };
  const pairs = String(target)
    .split(/ (?=\w+=)/)
    .filter((pair) => pair !== '');
  const targets = pairs.map((pair) => ` --target ${shellWord(pair)}`).join('');
  return { command: `chain-recorder backfill ${dataset.name} --from ${from} --to ${to}${targets}` };
}

/**
 * Returns the axis of the ranges that can be requested of a dataset; null if only current data can be
 * requested.
 */
export function axisOf({ name }: DatasetRelations): 'time' | 'height' | null {
  const one = recordedNamed(name);
  return one === undefined || one.history === 'ledger' ? null : (one.source.range?.axis ?? null);
}

/** Quotes a word of a command line for POSIX shells. */
const shellWord = (text: string) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** The gaps, their reasons, and the commands that fetch the missing data. */
export function Gaps({ record, all }: { readonly record: CoverageRecord; readonly all: string }) {
  const { dataset, fetchable, missing, targets, parameters } = record;
  const hasTarget = targets.targets.length > 0 || parameters.after !== undefined;
  const lost = missing.rows.filter(({ reason }) => reason !== NOT_RECORDED_YET);
  const more = fetchable.next !== null || missing.next !== null;
  return (
    <section aria-labelledby="missing">
      <h2 id="missing">Gaps</h2>
      {fetchable.rows.length > 0 && (
        <>
          <p>
            Some ranges are not recorded yet and can still be fetched. The running recorder fetches the ranges
            of configured targets automatically. This command fetches them now:
          </p>
          <CopyableText
            text={formatHealCommand(dataset)}
            label="The command that fetches the ranges of configured targets"
          />
        </>
      )}
      <Table
        stacked
        caption="Gaps"
        columns={columns(dataset)}
        rows={[...fetchable.rows, ...lost]}
        empty={hasTarget ? 'No gaps in this range.' : 'No matching target.'}
      />
      {more && (
        <p>
          More gaps exist. <a href={all}>Show all</a>
        </p>
      )}
    </section>
  );
}

const bound = (type: string, name: string) => (row: Row) => (
  <ValueText type={type} value={row[name] ?? NONE} />
);
const NONE: Value = null;

const columns = (dataset: DatasetRelations): readonly TableColumn<Row>[] => [
  {
    name: 'Target',
    kind: 'wide',
    cell: ({ target }) => (typeof target === 'string' && target !== '' ? target : 'single target'),
  },
  ...(axisOf(dataset) === 'height'
    ? [
        { name: 'From height', kind: 'number' as const, cell: bound('bigint', 'first_height') },
        { name: 'To', kind: 'number' as const, cell: bound('bigint', 'end_height') },
      ]
    : [
        { name: 'From', cell: bound('timestamptz', 'range_start') },
        { name: 'To', cell: bound('timestamptz', 'range_end') },
      ]),
  {
    name: 'Reason and fix',
    kind: 'wide',
    cell: (gap) => {
      const fix = fixOfGap(dataset, gap);
      return (
        <>
          {gap.reason}
          <div>{'command' in fix ? <code class="command">{fix.command}</code> : fix.none}</div>
        </>
      );
    },
  },
];
