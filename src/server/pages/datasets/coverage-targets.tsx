import type { TargetCoverage } from '../../../reporting/relations/coverage-days.ts';
import { StateBadge } from '../parts/state.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { changedAddress, hrefOf } from './addresses.ts';
import { allDays, DayStrip, daysWords } from './coverage-days.tsx';
import type { CoverageRecord } from './coverage-page.tsx';
import { CursorPager } from './filters.tsx';

/** Table of the targets, each with days, state and reason. */
export function Targets({
  record,
  byHeight,
}: {
  readonly record: CoverageRecord;
  readonly byHeight: boolean;
}) {
  const { dataset, parameters, coverage, targets } = record;
  const days: TableColumn<TargetCoverage> = {
    name: 'Days',
    cell: (target) => {
      const all = allDays(target.days, coverage.from, coverage.to);
      return (
        <>
          <DayStrip days={all} />
          <span class="soft">{daysWords(all)}</span>
        </>
      );
    },
  };
  return (
    <section aria-labelledby="targets">
      <h2 id="targets">By target</h2>
      <Table
        stacked
        caption="Targets"
        columns={[
          {
            name: 'Target',
            kind: 'wide',
            cell: ({ target }) => (
              <a href={changedAddress(record, { target })}>{target || 'single target'}</a>
            ),
          },
          ...columns,
          ...(byHeight ? [] : [days]),
          {
            name: 'Runs',
            head: <span class="unseen">Runs</span>,
            cell: () => <a href={hrefOf('/runs', { dataset: dataset.name })}>runs</a>,
          },
        ]}
        rows={targets.targets}
        empty={
          parameters.target
            ? `There is no target ${parameters.target}. The list of all targets shows the valid names.`
            : 'This dataset has no targets: no entry of watch in recorder.yaml selects any.'
        }
      />
      <CursorPager place={record} next={targets.next} label="More targets" />
    </section>
  );
}

const columns: readonly TableColumn<TargetCoverage>[] = [
  {
    name: 'State',
    cell: ({ state }) => (state === null ? <span class="soft">not watched</span> : <StateBadge is={state} />),
  },
  {
    name: 'Last recorded',
    cell: ({ last_success_at: at }) => <Time at={at === null ? null : new Date(at)} none="never" />,
  },
  { name: 'Reason', kind: 'wide', cell: ({ reason }) => reason },
];
