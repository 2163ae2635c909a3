import { z } from 'zod';
import { type AlertRow, listOpenAlertRows, listResolvedAlerts } from '../../alerts/alert-row.ts';
import { hrefOf } from './datasets/addresses.ts';
import { Formats } from './datasets/page-data.tsx';
import { definePage } from './page.ts';
import { id, optionalParam } from './page-parameters.ts';
import { Pager } from './parts/pager.tsx';
import { StateBadge } from './parts/state.tsx';
import { Table, type TableColumn } from './parts/table.tsx';
import { Time } from './parts/time.tsx';

const PATH = '/alerts';
/** Maximum number of open alerts on the page; a link leads to the others. */
const MAX_OPEN_ALERTS = 200;

/** `/alerts`: open and resolved alerts. */
export const alertsPage = definePage({
  path: PATH,
  params: z.strictObject({
    rule: optionalParam(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must be the name of a rule')),
    before: optionalParam(id),
  }),
  read: ({ read }, params) =>
    read(async (sql) => ({
      open:
        params.before === undefined
          ? await listOpenAlertRows(sql, params.rule ?? null, MAX_OPEN_ALERTS + 1)
          : null,
      past: await listResolvedAlerts(sql, params),
    })),
  content: ({ open, past: { found, next } }, params) => ({
    title: 'Alerts',
    live: 30,
    body: (
      <>
        <h1>Alerts</h1>
        {open && (
          <section class="stack" aria-label="Open alerts">
            <p class="soft">
              Rules evaluate the recorded data and raise alerts.{' '}
              <code>chain-recorder alerts ack NUMBER --by WHO</code> stops the reminders of an alert and shows
              who is working on it.
            </p>
            {params.rule && (
              <p>
                Only alerts of the rule <code>{params.rule}</code> are shown. <a href={PATH}>Show all</a>
              </p>
            )}
            <Table
              stacked
              caption="Open alerts, firing ones first"
              columns={openColumns}
              rows={open.slice(0, MAX_OPEN_ALERTS)}
              empty={params.rule ? 'This rule has no open alerts.' : 'No open alerts.'}
            />
            {open.length > MAX_OPEN_ALERTS && (
              <p>
                Only the first {MAX_OPEN_ALERTS} alerts are shown.{' '}
                <a href={hrefOf('/datasets/alerts', { 'resolved_at.null': 'true', sort: '-id' })}>Show all</a>
              </p>
            )}
          </section>
        )}
        <section class="stack" aria-labelledby="resolved">
          <h2 id="resolved">Resolved</h2>
          <Table
            stacked
            caption="Resolved alerts, newest first"
            columns={pastColumns}
            rows={found}
            empty={
              params.before
                ? 'No older alerts.'
                : params.rule
                  ? 'This rule has no resolved alerts yet.'
                  : 'No resolved alerts yet.'
            }
          />
          <Pager next={next === null ? null : hrefOf(PATH, { ...params, before: next })} />
          <p class="actions">
            <Formats address={(form) => hrefOf(`${PATH}.${form}`, params)} />
          </p>
        </section>
      </>
    ),
  }),
});

/**
 * Columns of all tables of alerts. The state is the first one, so that it is visible in a narrow window, too.
 */
const common: readonly TableColumn<AlertRow>[] = [
  {
    name: 'State',
    cell: ({ state, severity, flapping }) => (
      <>
        <StateBadge is={state === 'firing' ? severity : state}>{state}</StateBadge>
        <div class="soft small">
          {severity}
          {flapping && ', flapping'}
        </div>
      </>
    ),
  },
  {
    name: 'Message',
    kind: 'wide',
    cell: ({ summary, subject }) => (
      <>
        {summary}
        {!summary.includes(subject) && (
          <div>
            <code class="soft small">{subject}</code>
          </div>
        )}
      </>
    ),
  },
  { name: 'Since', cell: ({ since, began_at }) => <Time at={since ?? began_at} /> },
];

const more: readonly TableColumn<AlertRow>[] = [
  {
    name: 'Sent',
    about: 'An alert is sent once it has lasted for the duration of its rule.',
    cell: ({ fired_at }) => <Time at={fired_at} />,
  },
  {
    name: 'Rule',
    cell: ({ rule }) => <a href={hrefOf(PATH, { rule })}>{rule}</a>,
  },
  {
    name: 'Acknowledged by',
    kind: 'name',
    cell: ({ acknowledged_by, note }) =>
      acknowledged_by === null ? '–' : note === null ? acknowledged_by : `${acknowledged_by}: ${note}`,
  },
  { name: 'Number', kind: 'number', cell: (one) => one.id },
];

const openColumns = [...common, ...more];
const pastColumns = [
  ...common,
  { name: 'Resolved', cell: ({ resolved_at }: AlertRow) => <Time at={resolved_at} /> },
  ...more,
];
