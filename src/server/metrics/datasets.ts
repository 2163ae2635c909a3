import { counter, gauge } from './family.ts';
import type { MetricPart } from './part.ts';

/** Ranges and items are counted at most so often, ms: what is counted there grows with what went wrong. */
const SLOWLY = 60_000;

const rows = counter('chain_recorder_rows_total', 'Rows written, ever, by whichever process.', 'dataset');
const items = counter('chain_recorder_items_total', 'Items seen, ever, by whichever process.', 'dataset');
const every = gauge(
  'chain_recorder_expected_interval_seconds',
  'How often the dataset should be recorded, where it should be again.',
  'dataset',
);
const notOffered = gauge(
  'chain_recorder_not_offered_targets',
  'Targets that the upstream does not answer for.',
  'dataset',
);
const gaps = gauge(
  'chain_recorder_dataset_gaps',
  'Ranges of the dataset that are missing, by whether they can still be fetched (fetchable="true") or never.',
  'dataset',
  'fetchable',
);
const quarantined = gauge(
  'chain_recorder_dataset_quarantined_items',
  'Items of the dataset that could not be decoded or stored.',
  'dataset',
);

/** What is recorded of each dataset. */
export const datasets: MetricPart = {
  name: 'datasets',
  about: 'What was recorded of each dataset, by all processes together.',
  families: [rows, items, every, notOffered],
  reader:
    ({ sql }) =>
    async () => {
      // Also of targets that nobody asks for any more, so that the counts never fall.
      const found = await sql<
        { dataset: string; rows: number; items: number; every: number | null; not_offered: number | null }[]
      >`
        with written as (
          select dataset, sum(rows_written)::float8 as rows, sum(items)::float8 as items
          from recorder.target_datasets group by dataset
        )
        select w.dataset, w.rows, w.items, extract(epoch from f.expected_every)::float8 as every, f.not_offered::float8
        from written w left join reporting.recording_freshness f using (dataset)
        order by 1`;
      return found.flatMap((one) => [
        rows.of(one.rows, one.dataset),
        items.of(one.items, one.dataset),
        ...(one.every === null ? [] : [every.of(one.every, one.dataset)]),
        ...(one.not_offered === null ? [] : [notOffered.of(one.not_offered, one.dataset)]),
      ]);
    },
};

/** What is missing, or could not be read, of each dataset. */
export const lacks: MetricPart = {
  name: 'lacks',
  about: 'What the record lacks, by dataset. Counted at most once a minute.',
  families: [gaps, quarantined],
  lasting: SLOWLY,
  reader:
    ({ sql }) =>
    async () => {
      const [missing, unread] = await Promise.all([
        sql<{ dataset: string; fetchable: boolean; count: number }[]>`
          select dataset, reason = 'not recorded yet' as fetchable, count(*)::float8 as count
          from reporting.gaps group by 1, 2 order by 1, 2`,
        sql<{ dataset: string; count: number }[]>`
          select dataset, count(*)::float8 as count from reporting.quarantine group by 1 order by 1`,
      ]);
      return [
        ...missing.map(({ dataset, fetchable, count }) => gaps.of(count, dataset, String(fetchable))),
        ...unread.map(({ dataset, count }) => quarantined.of(count, dataset)),
      ];
    },
};
