import { gauge } from './family.ts';
import type { MetricPart } from './part.ts';

const database = gauge('chain_recorder_database_size_bytes', 'What the database takes on disk.');
const growth = gauge(
  'chain_recorder_database_growth_bytes_per_day',
  'How much a day adds, at the pace of the last sealed days. No sample while it is too early to tell.',
);
const free = gauge(
  'chain_recorder_disk_free_bytes',
  'What is free on the disk of the embedded database. No sample for a server of your own.',
);

/** How much space the record takes. */
export const space: MetricPart = {
  name: 'space',
  about: 'How much space the record takes. Looked at no more than once a minute.',
  families: [database, growth, free],
  reader:
    ({ disk }) =>
    async () => {
      const use = await disk();
      return [
        database.of(use.database),
        ...(use.perDay === null ? [] : [growth.of(use.perDay)]),
        ...(use.free === null ? [] : [free.of(use.free)]),
      ];
    },
};
