import { fork } from 'node:child_process';
import { z } from 'zod';
import { EXPORT_FORMATS } from '../config/exports-schema.ts';
import { packageFile } from '../lib/package-file.ts';

/** Request to the process that runs one export. */
export const exportRequest = z.object({
  databaseUrl: z.string(),
  to: z.string(),
  s3: z.object({
    endpoint: z.string().optional(),
    region: z.string().optional(),
    problems: z.array(z.string()).readonly(),
    keys: z.object({ id: z.string(), secret: z.string(), session: z.string().optional() }).optional(),
  }),
  /** Names of the exported datasets. Default: all datasets. */
  datasets: z.array(z.string()).optional(),
  format: z.enum(EXPORT_FORMATS),
});

export type ExportRequest = z.input<typeof exportRequest>;

const exportReply = z.union([
  z.object({
    result: z.object({
      export: z.number(),
      exportedAt: z.string(),
      rows: z.number(),
      bytes: z.number(),
      /** Number of files of the last export that were missing or changed and were written again. */
      damaged: z.number(),
      /** Number of rows in missing or changed files of days whose rows the database may have removed. */
      lost: z.number(),
    }),
  }),
  z.object({ failed: z.string() }),
]);

/** Reply of the process: the result, or the reason of the failure. */
export type ExportReply = z.infer<typeof exportReply>;

/** Path of the program, from the sources or the build, like this file. */
const PROGRAM = packageFile(
  import.meta.url.endsWith('.ts') ? 'src/warehouse/exporter-process.ts' : 'dist/exporter-process.js',
);
/** Maximum heap size, in MiB. */
const MAX_HEAP_MIB = 256;
/** Time between SIGTERM and SIGKILL, in ms. */
const STOP_TIMEOUT_MS = 5_000;

/**
 * Runs an incremental export in a child process, so that encoding files does not block probes and pages. The
 * child ends with this process.
 * @param signal stops the export; the reply is then a failure
 */
export async function runExporterProcess(request: ExportRequest, signal: AbortSignal): Promise<ExportReply> {
  // Debugger options of the parent do not apply to the child.
  const execArgv = [
    ...process.execArgv.filter((one) => !one.startsWith('--inspect')),
    `--max-old-space-size=${MAX_HEAP_MIB}`,
  ];
  const child = fork(PROGRAM, [], { execArgv, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let errorOutput = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-2_000);
  });
  const stop = () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS).unref();
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
            failed: `the exporting process ended by ${killed ?? `code ${code}`}${errorOutput === '' ? '' : `: ${errorOutput.trim()}`}`,
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
