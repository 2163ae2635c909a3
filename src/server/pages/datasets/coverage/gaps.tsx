import { NOT_RECORDED_YET } from '../../../../reporting/relations/coverage-days.ts';
import type { Row } from '../../../../reporting/relations/rows.ts';
import type { Value } from '../../../../reporting/relations/values.ts';
import { Empty } from '../../parts/empty.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { ValueText } from '../../parts/value.tsx';
import { CopyableText } from '../copy-button.tsx';
import type { CoverageRecord } from './coverage-page.tsx';
import { axisOf, fixOfGap, formatHealCommand } from './fix.ts';

/** The gaps, their reasons, and the commands that fetch them. */
export function Gaps({ record, all }: { readonly record: CoverageRecord; readonly all: string }) {
  const { dataset, fetchable, missing } = record;
  const lost = missing.rows.filter(({ reason }) => reason !== NOT_RECORDED_YET);
  const byHeight = axisOf(dataset) === 'height';
  const more = fetchable.next !== null || missing.next !== null;
  return (
    <section aria-labelledby="missing">
      <h2 id="missing">Gaps</h2>
      {fetchable.rows.length > 0 && (
        <div class="stack">
          <p>
            These ranges are not recorded yet and can still be fetched. The running recorder fetches them
            automatically. This command fetches all of them now:
          </p>
          <CopyableText text={formatHealCommand(dataset)} label="The command that fetches all ranges" />
          <Table
            stacked
            caption="Ranges that can still be fetched"
            columns={[
              ...columns(byHeight),
              {
                name: 'Fix',
                cell: (gap) => {
                  const fix = fixOfGap(dataset, gap);
                  return 'command' in fix ? <code class="command">{fix.command}</code> : fix.none;
                },
              },
            ]}
            rows={fetchable.rows}
            keyOf={(row) => fetchable.rows.indexOf(row)}
            empty=""
          />
        </div>
      )}
      {lost.length > 0 && (
        <div class="stack">
          <p>
            These ranges are missing permanently.{' '}
            {dataset.kind === 'ledger'
              ? 'No observer probed at that time: the states of the nodes stay unknown.'
              : 'The upstream no longer offers the data.'}
          </p>
          <Table
            stacked
            caption="Permanent gaps"
            columns={[...columns(byHeight), WHY]}
            rows={lost}
            keyOf={(row) => lost.indexOf(row)}
            empty=""
          />
        </div>
      )}
      {fetchable.rows.length + lost.length === 0 && <Empty>Nothing is missing in this time.</Empty>}
      {more && (
        <p>
          There are more: <a href={all}>all of them</a>.
        </p>
      )}
    </section>
  );
}

const bound = (type: string, name: string) => (row: Row) => (
  <ValueText type={type} value={row[name] ?? NONE} />
);
const NONE: Value = null;

const columns = (byHeight: boolean): readonly Column<Row>[] => [
  {
    name: 'Target',
    kind: 'wide',
    cell: ({ target }) => (typeof target === 'string' && target !== '' ? target : 'the only one'),
  },
  ...(byHeight
    ? [
        { name: 'From height', kind: 'number' as const, cell: bound('bigint', 'first_height') },
        { name: 'To', kind: 'number' as const, cell: bound('bigint', 'end_height') },
      ]
    : [
        { name: 'From', cell: bound('timestamptz', 'range_start') },
        { name: 'To', cell: bound('timestamptz', 'range_end') },
      ]),
];

const WHY: Column<Row> = { name: 'Why', kind: 'wide', cell: ({ reason = null }) => <>{reason}</> };
