import { setPriority } from 'node:os';
import { raiseConnectTimeout } from '../lib/connect-timeout.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { exportTables } from './export.ts';
import { warehouseTables } from './export-table.ts';
import { openTarget } from './open-target.ts';
import { type ExportReply, exportRequest } from './run-exporter-process.ts';

/**
 * Child process that runs one export. The process receives an {@link exportRequest}, replies with an {@link
 * ExportReply}, and exits.
 */

raiseConnectTimeout();

const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
process.on('disconnect', () => stop.abort());

/** Nice value: recording has priority. */
const NICENESS = 10;
try {
  setPriority(NICENESS);
} catch {
  // If the system does not allow this priority, the process runs with normal priority.
}

async function runExport(message: unknown): Promise<ExportReply> {
  const { databaseUrl, to, s3, datasets, format } = exportRequest.parse(message);
  const { endpoint, region, keys, problems } = s3;
  try {
    const target = await openTarget(
      to,
      { endpoint, region, problems, keys: keys && { ...keys, session: keys.session } },
      'exports:',
    );
    try {
      const { manifest, tables, damaged, lost } = await exportTables({
        databaseUrl,
        target,
        tables: warehouseTables.filter(({ dataset }) => datasets?.includes(dataset) ?? true),
        format,
        incremental: true,
        signal: stop.signal,
      });
      const sumOf = (count: 'rows' | 'bytes') => tables.reduce((sum, one) => sum + one[count], 0);
      return {
        result: {
          export: manifest.export,
          exportedAt: manifest.exported_at,
          rows: sumOf('rows'),
          bytes: sumOf('bytes'),
          damaged: damaged.length,
          lost: lost.reduce((sum, one) => sum + one.rows, 0),
        },
      };
    } finally {
      await target.close();
    }
  } catch (error) {
    return { failed: toErrorMessage(error) };
  }
}

process.once('message', async (message) => {
  const reply = await runExport(message);
  process.send?.(reply, () => process.disconnect());
});
