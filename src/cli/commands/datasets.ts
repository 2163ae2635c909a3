import { formatDuration } from '../../lib/duration.ts';
import { printJson, printTable } from '../../lib/print.ts';
import { recorded } from '../../reporting/recorded-datasets.ts';

/** Command `datasets`: prints all datasets. */
export function datasetsCommand(options: { json: boolean }): void {
  const rows = recorded.map(({ name, about, operations, history, key, source }) => ({
    name,
    about,
    history,
    operations,
    key,
    upstream: source.upstream,
    every: formatDuration(source.every),
    units_per_call: source.weight,
  }));
  if (options.json) {
    printJson(rows);
    return;
  }
  printTable(
    rows.map(({ name, history, every, units_per_call, operations }) => ({
      dataset: name,
      history,
      every,
      'units/call': units_per_call,
      operations:
        operations.length > 2
          ? `${operations.slice(0, 2).join(', ')}, … (${operations.length})`
          : operations.join(', '),
    })),
    'there are no datasets',
  );
}
