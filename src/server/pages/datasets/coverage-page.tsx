import { z } from 'zod';
import type { DatasetRelations } from '../../../reporting/relations/catalogue.ts';
import {
  type Coverage,
  type CoverageHeights,
  coverageParameters,
  MAX_HEIGHT_RANGES,
  NOT_RECORDED_YET,
  readCoverage,
  readTargetCoverage,
  type TargetCoveragePage,
} from '../../../reporting/relations/coverage-days.ts';
import { limitedText } from '../../../reporting/relations/filters.ts';
import { validateParameters } from '../../../reporting/relations/invalid-request.ts';
import { rowsParameters } from '../../../reporting/relations/row-query.ts';
import { type RowsPage, readRows } from '../../../reporting/relations/rows.ts';
import type { Content, PageDefinition } from '../page.ts';
import { FormField } from '../parts/fields.tsx';
import { LinkList } from '../parts/link-list.tsx';
import { StateBadge } from '../parts/state.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { StatePatterns } from '../status/state-bars.tsx';
import { numberText } from '../texts.ts';
import {
  canonicalizeParameters,
  changedAddress,
  hrefOf,
  type PageAddress,
  type Parameters,
  without,
} from './addresses.ts';
import { DaysOfAll } from './coverage-days.tsx';
import { axisOf, Gaps } from './coverage-gaps.tsx';
import { Targets } from './coverage-targets.tsx';
import { HiddenFields } from './filters.tsx';
import { CopyableText, Formats } from './page-data.tsx';
import { relationContent, relationPath } from './relation-head.tsx';
import { catalogue, parseAsOf, requireSingle, viewNamed } from './relations.ts';

const DAY = 86_400_000;
const SPANS = [
  ['30 days', 30],
  ['90 days', 90],
  ['a year', 365],
] as const;

/** The form for the displayed days and the target. */
function CoverageForm({ record }: { readonly record: CoverageRecord }) {
  const { dataset, path, parameters } = record;
  const { from, to } = record.coverage;
  const { target, from: begin = null, to: end = null } = parameters;
  const days = Math.round((Date.parse(to) - Date.parse(from)) / DAY);
  return (
    <>
      <form class="filters" method="get" action={path} aria-label="Days and target">
        <HiddenFields of={without(parameters, 'from', 'to', 'target', 'after')} />
        <FormField name="from" label="From" type="date" value={from.slice(0, 10)} />
        <FormField name="to" label="To (empty: now)" type="date" value={(end ?? '').slice(0, 10)} />
        <FormField name="target" label="Target" value={target ?? ''} />
        <button type="submit">Show</button>
      </form>
      <div class="head">
        <LinkList
          class="choices"
          aria-label="Range"
          links={[
            ...SPANS.map(([label, length]) => ({
              href: changedAddress(record, {
                from: new Date(Date.parse(to) - length * DAY).toISOString().slice(0, 10),
              }),
              label,
              current: Math.abs(days - length) <= 1 && ('true' as const),
            })),
            ...(target === undefined
              ? []
              : [{ href: changedAddress(record, { target: null }), label: 'all targets' }]),
          ]}
        />
        <p class="actions">
          <Formats
            address={(form) =>
              hrefOf(`/api/v1/datasets/${dataset.now.name}/coverage.${form}`, {
                from: begin,
                to: end,
                target: target ?? null,
              })
            }
            all="all days"
          />
        </p>
      </div>
    </>
  );
}

/** The ranges of heights of a dataset that is recorded by height instead of time. */
function Heights({
  dataset,
  target,
  of,
}: {
  readonly dataset: DatasetRelations;
  /** The requested target; undefined: all targets. */
  readonly target: string | undefined;
  readonly of: readonly CoverageHeights[];
}) {
  const all = { dataset: dataset.name, ...(target === undefined ? {} : { target }) };
  const first = startOfRecord(of);
  return (
    <section aria-labelledby="heights">
      <h2 id="heights">Heights</h2>
      <Table
        caption="Recorded and missing heights"
        columns={columns}
        rows={of}
        empty="No height is recorded yet."
      />
      {of.length === MAX_HEIGHT_RANGES && (
        <p class="soft">
          At most {numberText(MAX_HEIGHT_RANGES)} ranges are shown;{' '}
          <a href={hrefOf('/datasets/coverage', all)}>coverage</a> and{' '}
          <a href={hrefOf('/datasets/gaps', all)}>gaps</a> have all.
        </p>
      )}
      {first > 0 && (
        <>
          <p>
            The {numberText(first)} heights before {numberText(first)} are not requested automatically. This
            command records them and can be repeated until it succeeds; <code>since: 0</code> in{' '}
            <code>datasets</code> of recorder.yaml does the same in the background.
          </p>
          <CopyableText
            text={`chain-recorder backfill ${dataset.name} --from-height 0 --to-height ${first}`}
            label="The command that records the heights before"
          />
        </>
      )}
    </section>
  );
}

/** Returns the highest first height of all targets; 0 if there is no target. */
function startOfRecord(ranges: readonly CoverageHeights[]): number {
  const lowest = new Map<string, number>();
  for (const { target, first_height } of ranges)
    lowest.set(target, Math.min(first_height, lowest.get(target) ?? Number.POSITIVE_INFINITY));
  return Math.max(0, ...lowest.values());
}

const columns: readonly TableColumn<CoverageHeights>[] = [
  { name: 'Target', cell: ({ target }) => target },
  { name: 'From height', kind: 'number', cell: ({ first_height }) => numberText(first_height) },
  {
    name: 'To',
    about: 'Exclusive.',
    kind: 'number',
    cell: ({ end_height }) => (end_height === null ? 'newest' : numberText(end_height)),
  },
  {
    name: 'State',
    cell: ({ reason }) =>
      reason === 'recorded' ? <StateBadge is="covered" /> : <StateBadge is="gap">{reason}</StateBadge>,
  },
];

const TARGETS_PAGE_SIZE = 25;
const GAPS_PAGE_SIZE = '25';

export interface CoverageRecord extends PageAddress {
  readonly dataset: DatasetRelations;
  readonly coverage: Coverage;
  readonly targets: TargetCoveragePage;
  /** Gaps that can still be fetched, the newest first. */
  readonly fetchable: RowsPage;
  /** All gaps, the newest first. */
  readonly missing: RowsPage;
}

/** `/datasets/D/coverage`: covered and missing ranges by day, the reasons, and the fixes. */
export const coveragePage: PageDefinition = {
  path: '/datasets/:relation/coverage',
  async answer({ read, clock }, { relation, ...params }) {
    const dataset = catalogue.datasets.get(String(relation));
    if (!dataset) return null;
    const path = relationPath(dataset.now.name, 'coverage');
    const tidied = canonicalizeParameters(path, params);
    if ('location' in tidied) return tidied;
    parseAsOf(tidied.normalized);
    const { after, as_of: _, ...rest } = tidied.normalized;
    const query = validateParameters(coverageParameters(clock), rest);
    const from = validateParameters(z.object({ after: limitedText.optional() }), { after }).after ?? null;
    const parameters = requireSingle(tidied.normalized);
    const view = viewNamed('gaps');
    return read(async (sql) => {
      const coverage = await readCoverage(sql, dataset, query);
      const readGaps = (more: Parameters) => {
        const filters = { ...gapsParameters(dataset, query.target, coverage), ...more };
        return readRows(sql, view, validateParameters(rowsParameters(view), filters));
      };
      return content({
        path,
        dataset,
        parameters,
        coverage,
        targets: await readTargetCoverage(sql, dataset, query, from, TARGETS_PAGE_SIZE),
        fetchable: await readGaps({ reason: NOT_RECORDED_YET, limit: GAPS_PAGE_SIZE }),
        missing: await readGaps({ limit: GAPS_PAGE_SIZE }),
      });
    });
  },
};

/** Returns the parameters of `/datasets/gaps` for the gaps of a dataset in the displayed range. */
function gapsParameters(
  dataset: DatasetRelations,
  target: string | null,
  { from, to }: Coverage,
): Parameters {
  return {
    dataset: dataset.name,
    ...(target === null ? {} : { target }),
    ...(axisOf(dataset) === 'height'
      ? { sort: '-first_height' }
      : { sort: '-range_start', 'range_start.lt': to, 'range_end.gt': from }),
  };
}

function content(record: CoverageRecord): Content {
  const { dataset, parameters, coverage } = record;
  const byHeight = axisOf(dataset) === 'height';
  const gaps = gapsParameters(dataset, parameters.target ?? null, coverage);
  return relationContent(
    dataset.now,
    'coverage',
    parameters,
    `Coverage: ${dataset.now.name}`,
    <>
      <StatePatterns />
      <CoverageForm record={record} />
      {byHeight ? (
        <Heights dataset={dataset} target={parameters.target} of={coverage.heights} />
      ) : (
        <DaysOfAll record={record} />
      )}
      <Gaps record={record} all={hrefOf('/datasets/gaps', gaps)} />
      <Targets record={record} byHeight={byHeight} />
    </>,
  );
}
