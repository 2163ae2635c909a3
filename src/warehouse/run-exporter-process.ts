import { fork } from 'node:child_process';
import { z } from 'zod';
import { FORMATS } from '../config/exports-schema.ts';
import { packageFile } from '../lib/package-file.ts';

/** What a process is told that makes one export. */
export const exportRequest = z.object({
  databaseUrl: z.string(),
  to: z.string(),
  s3: z.object({
    endpoint: z.string().optional(),
    region: z.string().optional(),
    problems: z.array(z.string()).readonly(),
    keys: z.object({ id: z.string(), secret: z.string(), session: z.string().optional() }).optional(),
  }),
  /** Absent: all. */
  datasets: z.array(z.string()).optional(),
  format: z.enum(FORMATS),
});

/** As it is sent to the process. */
export type ExportRequest = z.input<typeof exportRequest>;

const exportReply = z.union([
  z.object({
    made: z.object({
      export: z.number(),
      exportedAt: z.string(),
      rows: z.number(),
      bytes: z.number(),
      /** Files of the last export that were missing or changed and were written again. */
      damaged: z.number(),
      /** Rows of such files that the database does not have any more. */
      lost: z.number(),
    }),
  }),
  z.object({ failed: z.string() }),
]);

/** What such a process answers: what it made, or why it failed. */
export type ExportReply = z.infer<typeof exportReply>;

/** From sources or built, as this file is. */
const PROGRAM = packageFile(
  import.meta.url.endsWith('.ts') ? 'src/warehouse/exporter-process.ts' : 'dist/exporter-process.js',
);
/** The most memory for values, MiB. */
const HEAP = 256;
/** How long it may take to stop before it is killed, ms. */
const PATIENCE = 5_000;

/**
 * Exports what was recorded since the last export in a process of its own, so that neither the looks at nodes nor the pages wait
 * while files are packed. It ends with this process.
 * @param signal stops it; the answer is then that it failed
 */
export async function exportApart(request: ExportRequest, signal: AbortSignal): Promise<ExportReply> {
  // What its parent inspects or watches is not its own.
  const execArgv = [
    ...process.execArgv.filter((one) => !one.startsWith('--inspect')),
    `--max-old-space-size=${HEAP}`,
  ];
  const child = fork(PROGRAM, [], { execArgv, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000);
  });
  const stop = () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), PATIENCE).unref();
  };
  try {
    return await new Promise<ExportReply>((resolve) => {
      let reply: ExportReply | null = null;
      child.once('message', (message) => {
        reply = exportReply.parse(message);
      });
      child.once('error', (error) => resolve({ failed: `the exporting process: ${error.message}` }));
      child.once('close', (code, killed) =>
        resolve(
          reply ?? {
            failed: `the exporting process ended by ${killed ?? `code ${code}`}${said === '' ? '' : `: ${said.trim()}`}`,
          },
        ),
      );
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      child.send(request, (error) => {
        if (error) child.kill('SIGKILL');
      });
    });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
