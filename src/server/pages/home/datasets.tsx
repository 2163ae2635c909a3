import { recordedNamed } from '../../../reporting/recorded-datasets.ts';
import type { DatasetStatus } from '../../../reporting/reports/status.ts';
import { StateBadge } from '../parts/state.tsx';
import type { TableColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { durationWords, numberText } from '../texts.ts';

const STATES = ['failing', 'incomplete', 'waiting', 'due', 'fresh', 'unsupported'] as const;

/** Returns the state of a dataset, which is the worst state of its targets. */
export function datasetStateOf(one: DatasetStatus): (typeof STATES)[number] {
  if (one.unsupported === one.targets) return 'unsupported';
  if (one.failing > one.unsupported) return 'failing';
  if (one.incomplete > 0) return 'incomplete';
  if (one.never_recorded > 0) return 'waiting';
  return one.late_by !== null && one.late_by > 0 ? 'due' : 'fresh';
}

/** Sorts datasets by urgency, then by name. */
export const byNeed = (datasets: readonly DatasetStatus[]): DatasetStatus[] =>
  datasets.toSorted(
    (a, b) =>
      STATES.indexOf(datasetStateOf(a)) - STATES.indexOf(datasetStateOf(b)) ||
      (a.dataset < b.dataset ? -1 : 1),
  );

const problemsOf = (one: DatasetStatus) =>
  (
    [
      [one.failing, 'failing'],
      [one.incomplete, 'incomplete'],
      [one.unconfirmed_departures, 'unconfirmed departures'],
      [one.never_recorded, 'not yet recorded'],
      [one.unsupported, 'unsupported'],
    ] as const
  )
    .flatMap(([count, word]) => (count > 0 ? [`${numberText(count)} ${word}`] : []))
    .join(', ');

export const datasetColumns: readonly TableColumn<DatasetStatus>[] = [
  { name: 'Dataset', cell: ({ dataset }) => <a href={`/datasets/${dataset}`}>{dataset}</a> },
  { name: 'State', cell: (one) => <StateBadge is={datasetStateOf(one)} /> },
  { name: 'Last recorded', cell: ({ last_success_at }) => <Time at={last_success_at} none="never" /> },
  {
    name: 'Overdue',
    about: 'Delay of the most delayed target. A poll in progress counts as slightly overdue.',
    kind: 'number',
    cell: ({ late_by }) => (late_by !== null && late_by > 0 ? durationWords(late_by) : '–'),
  },
  {
    name: 'Targets',
    about: 'A target is one set of request parameters, such as a chain or a node.',
    kind: 'number',
    cell: ({ targets }) => numberText(targets),
  },
  { name: 'Targets with problems', cell: (one) => problemsOf(one) || '–' },
  {
    name: 'Rows today',
    about: 'Written since midnight (UTC). Intervals of node health are not counted.',
    kind: 'number',
    cell: ({ dataset, rows_today }) =>
      recordedNamed(dataset)?.history === 'ledger' ? '–' : numberText(rows_today),
  },
  {
    name: 'Runs',
    head: <span class="unseen">Runs</span>,
    cell: ({ dataset }) => <a href={`/runs?dataset=${dataset}`}>runs</a>,
  },
];
