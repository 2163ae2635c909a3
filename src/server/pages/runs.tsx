import { useContext } from 'preact/hooks';
import { z } from 'zod';
import { readSeenQueues, type SeenQueue } from '../../reporting/reports/queues.ts';
import { type RunRow, readRunPage, runReasons, runRows, runStatuses } from '../../reporting/reports/runs.ts';
import { spanText } from '../../reporting/reports/uptime.ts';
import { hrefOf } from './datasets/addresses.ts';
import { Formats } from './datasets/page-data.tsx';
import { definePage } from './page.ts';
import { dataset, datasetNames, id, momentParam, oneOf, optionalParam } from './page-parameters.ts';
import { ANY, Filters, FormField } from './parts/fields.tsx';
import { KeyValues } from './parts/key-values.tsx';
import { Pager } from './parts/pager.tsx';
import { ErrorNotice } from './parts/problem.tsx';
import { StateBadge } from './parts/state.tsx';
import { Table, type TableColumn } from './parts/table.tsx';
import { Time } from './parts/time.tsx';
import { isRecentObservation } from './queues/last-seen.tsx';
import { momentText, numberText } from './texts.ts';
import { CurrentView } from './view.ts';

const PATH = '/runs';

/** `/runs`: runs with their result and cost. */
export const runsPage = definePage({
  path: PATH,
  params: z.strictObject({
    dataset: optionalParam(dataset),
    status: optionalParam(oneOf(runStatuses)),
    reason: optionalParam(oneOf(runReasons)),
    until: optionalParam(momentParam),
    before: optionalParam(id),
  }),
  read: ({ read }, params) =>
    read(async (sql) => ({ ...(await readRunPage(sql, params)), queues: await readSeenQueues(sql) })),
  content: ({ runs: rows, next, queues }, params) => {
    const until = params.until === undefined ? undefined : new Date(params.until).toISOString().slice(0, 19);
    return {
      title: 'Runs',
      body: (
        <section class="stack">
          <h1>Runs</h1>
          <p class="soft">
            Each run requests the data of one source for one target. Old runs are only counted by day (
            <code>reporting_internal.run_days</code>).
          </p>
          <StalledQueues queues={queues} />
          <Filters path={PATH}>
            <FormField
              name="dataset"
              label="Dataset"
              value={params.dataset}
              options={[ANY, ...datasetNames]}
            />
            <FormField name="status" label="Status" value={params.status} options={[ANY, ...runStatuses]} />
            <FormField name="reason" label="Reason" value={params.reason} options={[ANY, ...runReasons]} />
            <FormField name="until" label="Started before (UTC)" type="timestamptz" value={until} />
          </Filters>
          <Table
            stacked
            caption="Runs, newest first"
            columns={columns}
            rows={rows}
            empty={
              next === null
                ? 'No matching runs.'
                : 'No matching runs among those searched. Older runs may match.'
            }
          />
          <Pager next={next === null ? null : hrefOf(PATH, { ...params, until: undefined, before: next })} />
          <p class="actions">
            <Formats address={(form) => hrefOf(`${PATH}.${form}`, { ...params, until })} />
          </p>
        </section>
      ),
    };
  },
});

/** Notice about stalled queues, from which no run starts. */
function StalledQueues({ queues }: { readonly queues: readonly SeenQueue[] }) {
  const { now } = useContext(CurrentView);
  const failedQueues = queues.filter(
    ({ error, seen_at }) => error !== null && isRecentObservation(seen_at, now),
  );
  if (failedQueues.length === 0) return null;
  return (
    <ErrorNotice what="No scheduled run starts: a queue is stalled.">
      {failedQueues.map(({ recorder, queue, error, error_since }) => (
        <p>
          <a href="/queues">{queue}</a> of {recorder}, since <Time at={error_since} />: {error}
        </p>
      ))}
    </ErrorNotice>
  );
}

/** `/runs/RUN`: one run, with its error. */
export const runPage = definePage({
  path: '/runs/:run',
  params: z.strictObject({ run: id }),
  read: async ({ read }, params) => {
    const rows = await read((sql) => runRows(sql, params.run));
    const [first] = rows;
    return first ? { first, rows } : null;
  },
  content: ({ first, rows }) => ({
    title: `Run ${first.run_id}`,
    crumbs: [{ href: PATH, label: 'Runs' }],
    body: (
      <>
        <div class="head">
          <h1>Run {first.run_id}</h1>
          <StateBadge is={first.status} />
        </div>
        {first.error !== null && (
          <ErrorNotice
            what={
              first.status === 'unsupported' ? 'The upstream does not offer this data.' : 'The run failed.'
            }
          >
            <pre>{first.error}</pre>
          </ErrorNotice>
        )}
        <KeyValues
          of={[
            ['Target', <code>{first.target}</code>],
            ['Reason', first.reason],
            ['Started', <Time at={first.started_at} exact />],
            ['Ended', <Time at={first.finished_at} exact none="running" />],
            ['Duration', tookText(first) ?? '–'],
            ['Window', windowText(first)],
            ['Pages', numberText(first.pages)],
            ['Calls', numberText(first.requests)],
            ['Budget units', numberText(first.budget_units)],
            ['Quarantined', numberText(first.quarantined)],
            ['Process', <code>{first.worker}</code>],
          ]}
        />
        {first.note !== null && (
          <section>
            <h2>Notes</h2>
            <pre>{first.note}</pre>
          </section>
        )}
        <section>
          <h2>Datasets</h2>
          <Table
            caption="Datasets of the run"
            columns={[
              {
                name: 'Dataset',
                cell: (row) => <a href={hrefOf(PATH, { dataset: row.dataset })}>{row.dataset}</a>,
              },
              {
                name: 'Items',
                about: 'Items in the received pages.',
                kind: 'number',
                cell: (row) => numberText(row.items),
              },
              {
                name: 'Rows written',
                about: 'Unchanged rows are not written again.',
                kind: 'number',
                cell: (row) => numberText(row.rows_written),
              },
            ]}
            rows={rows}
            empty=""
          />
        </section>
      </>
    ),
  }),
});

const tookText = ({ started_at, finished_at }: RunRow) =>
  finished_at && spanText((finished_at.getTime() - started_at.getTime()) / 1000);

function windowText({ window_start, window_end, first_height }: RunRow): string | null {
  if (first_height !== null) return `from height ${numberText(first_height)}`;
  if (!window_start) return null;
  return `${momentText(window_start)} to ${window_end ? momentText(window_end) : 'the newest data'}`;
}

const columns: readonly TableColumn<RunRow>[] = [
  { name: 'Run', kind: 'number', cell: ({ run_id }) => <a href={`${PATH}/${run_id}`}>{run_id}</a> },
  { name: 'Status', cell: ({ status }) => <StateBadge is={status} /> },
  { name: 'Dataset', cell: ({ dataset }) => <code>{dataset}</code> },
  { name: 'Reason', cell: ({ reason }) => reason },
  { name: 'Started', cell: ({ started_at }) => <Time at={started_at} exact /> },
  { name: 'Duration', kind: 'number', cell: (row) => tookText(row) ?? '–' },
  { name: 'Items', kind: 'number', cell: ({ items }) => numberText(items) },
  {
    name: 'Rows',
    about: 'Rows written',
    kind: 'number',
    cell: ({ rows_written }) => numberText(rows_written),
  },
  { name: 'Calls', kind: 'number', cell: ({ requests }) => numberText(requests) },
  {
    name: 'Target and error',
    kind: 'wide',
    cell: ({ target, error, note }) => (
      <>
        <code class="clip" title={target}>
          {target}
        </code>
        {(error ?? note) && <div class="said">{error ?? note}</div>}
      </>
    ),
  },
];
