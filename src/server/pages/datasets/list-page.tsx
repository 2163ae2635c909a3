import { z } from 'zod';
import { recordedNamed } from '../../../reporting/recorded-datasets.ts';
import type { DatasetRelations } from '../../../reporting/relations/catalogue.ts';
import { instantParam } from '../../../reporting/relations/filters.ts';
import type { Relation } from '../../../reporting/relations/relation.ts';
import { rowsParameters } from '../../../reporting/relations/row-query.ts';
import { readRows } from '../../../reporting/relations/rows.ts';
import type { Value } from '../../../reporting/relations/values.ts';
import { savedQueries } from '../../../reporting/reports/saved-queries.ts';
import type { DatasetStatus } from '../../../reporting/reports/status.ts';
import { datasetStateOf } from '../home/datasets.tsx';
import { definePage } from '../page.ts';
import { LinkList } from '../parts/link-list.tsx';
import { StateBadge } from '../parts/state.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { ValueText } from '../parts/value.tsx';
import { hrefOf, type Parameters } from './addresses.ts';
import { AsOf } from './filters.tsx';
import { relationPath } from './relation-head.tsx';
import { catalogue, sharedViews, viewNamed } from './relations.ts';

/** A dataset with its state. */
interface DatasetEntry {
  readonly dataset: DatasetRelations;
  /** State of the recording; null if the dataset is not watched. */
  readonly status: DatasetStatus | null;
  /** Number of rows and versions written so far; null if no rows were written or counted. */
  readonly written: Value;
}

/** `/datasets`: all datasets and views. */
export const listPage = definePage({
  path: '/datasets',
  params: z.strictObject({
    as_of: z.union([z.literal(''), instantParam], { error: 'must be a time' }).optional(),
  }),
  async read({ read, status }) {
    const view = viewNamed('freshness_by_dataset');
    const query = rowsParameters(view).parse({ columns: 'dataset,rows_written', limit: '1000' });
    const [{ rows }, { datasets }] = await Promise.all([read((sql) => readRows(sql, view, query)), status()]);
    const written = new Map(rows.map((row) => [row.dataset, row.rows_written ?? null]));
    const statuses = new Map(datasets.map((one) => [one.dataset, one]));
    return [...catalogue.datasets.values()].map(
      (dataset): DatasetEntry => ({
        dataset,
        status: statuses.get(dataset.name) ?? null,
        // Rows are counted by run, and probes of nodes are not runs.
        written: dataset.kind === 'ledger' ? null : (written.get(dataset.name) ?? null),
      }),
    );
  },
  content(datasets, { as_of }) {
    const parameters: Parameters = as_of ? { as_of } : {};
    const groups = viewGroups();
    return {
      title: 'Data',
      body: (
        <>
          <div class="stack">
            <h1>Data</h1>
            <p>
              {datasets.length} recorded datasets with every version of their rows, and {sharedViews().length}{' '}
              views of them.
            </p>
          </div>
          <AsOf
            place={{ path: '/datasets', parameters }}
            asOf={as_of || null}
            note="The time applies to all linked pages. Freshness is always current."
          />
          <nav aria-label="Index">
            <LinkList
              class="index"
              links={[...GROUPS, ...groups].map(({ heading }) => ({
                href: `#${anchorOf(heading)}`,
                label: heading,
              }))}
            />
          </nav>
          {GROUPS.map(({ heading, holds }) => (
            <section aria-label={heading}>
              <h2 id={anchorOf(heading)}>{heading}</h2>
              <Table
                stacked
                caption={heading}
                columns={datasetColumns(parameters)}
                rows={datasets.filter(({ dataset }) => holds(dataset))}
                empty="None."
              />
            </section>
          ))}
          {groups.map(({ heading, views }) => (
            <details class="group">
              <summary>
                <h2 id={anchorOf(heading)}>{heading}</h2> <span class="soft">{views.length} views</span>
              </summary>
              <Table stacked caption={heading} columns={viewColumns(parameters)} rows={views} empty="None." />
            </details>
          ))}
        </>
      ),
    };
  },
});

const anchorOf = (heading: string) => heading.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

const upstreamOf = ({ name }: DatasetRelations) => {
  const one = recordedNamed(name);
  return one === undefined || one.history === 'ledger' ? 'health' : one.source.upstream;
};

const GROUPS = [
  { heading: 'Node health', upstream: 'health' },
  { heading: 'Chain metrics', upstream: 'metrics' },
  { heading: 'Data from nodes', upstream: 'nodes' },
  { heading: 'Data from the chain data service', upstream: 'chainData' },
].map(({ heading, upstream }) => ({
  heading,
  holds: (dataset: DatasetRelations) => upstreamOf(dataset) === upstream,
}));

/**
 * Groups the views without a dataset: predefined queries by subject, then views of nodes and of the
 * recording.
 */
function viewGroups(): { readonly heading: string; readonly views: readonly Relation[] }[] {
  const views = sharedViews();
  const answers = savedQueries().map(({ heading, queries: params }) => ({
    heading: `Saved queries: ${heading}`,
    names: params.map(({ answer }) => answer.name),
  }));
  const answered = new Set(answers.flatMap(({ names }) => names));
  const rest = views.filter(({ name }) => !answered.has(name));
  const ofNodes = rest.filter(({ name }) => name.startsWith('node_'));
  return [
    ...answers.map(({ heading, names }) => ({
      heading,
      views: views.filter(({ name }) => names.includes(name)),
    })),
    { heading: 'Nodes over time', views: ofNodes },
    { heading: 'Operation of the recorder', views: rest.filter((one) => !ofNodes.includes(one)) },
  ].filter(({ views }) => views.length > 0);
}

const named = (name: string, about: string, parameters: Parameters) => (
  <>
    <a href={hrefOf(relationPath(name), parameters)}>{name}</a>
    <span class="about">{about}</span>
  </>
);

const datasetColumns = (parameters: Parameters): readonly TableColumn<DatasetEntry>[] => [
  {
    name: 'Dataset',
    kind: 'wide',
    cell: ({ dataset: { now, about } }) => named(now.name, about, parameters),
  },
  {
    name: 'Kind',
    about: 'How changes of a row are stored.',
    cell: ({ dataset }) => dataset.kind,
  },
  {
    name: 'State',
    cell: ({ status }) =>
      status ? <StateBadge is={datasetStateOf(status)} /> : <span class="soft">not watched</span>,
  },
  { name: 'Last recorded', cell: ({ status }) => <Time at={status?.last_success_at ?? null} none="never" /> },
  {
    name: 'Rows',
    about: 'Number of rows and versions written so far.',
    kind: 'number',
    cell: ({ written }) => <ValueText type="numeric" value={written} />,
  },
];

const viewColumns = (parameters: Parameters): readonly TableColumn<Relation>[] => [
  { name: 'View', kind: 'wide', cell: ({ name, about }) => named(name, about, parameters) },
  {
    name: 'Parameters',
    cell: ({ parameters: declared }) => {
      const needed = (declared ?? []).filter(({ preset }) => preset === undefined).map(({ name }) => name);
      return needed.length > 0 ? <code>{needed.join(', ')}</code> : '–';
    },
  },
];
