import { createPublicKey } from 'node:crypto';
import type { App } from '../../app/app.ts';
import { exitCode } from '../../app/exit-code.ts';
import { UsageError } from '../../lib/errors.ts';
import { formatTime } from '../../lib/output-stream.ts';
import { printJson, printNotice, printText } from '../../lib/print.ts';
import { readInputFile } from '../../lib/read-input-file.ts';
import { describeDifference } from '../../reporting/seals/difference.ts';
import { type VerifyResult, verify } from '../../reporting/seals/verify.ts';
import { parseExactInstantOption, parseSpan } from '../select-targets.ts';

export interface VerifyOptions {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly head?: string | undefined;
  readonly publicKey?: string | undefined;
  readonly json: boolean;
}

/**
 * Command `verify`: computes the seals again and prints every difference.
 * @returns the exit code; 1 if anything differs or the requested time is not sealed yet, 75 if the command was
 * stopped
 * @throws UsageError if an option is invalid
 */
export async function verifyCommand(app: App, options: VerifyOptions, signal: AbortSignal): Promise<number> {
  const { from: begin } = parseSpan(options);
  const { from, to } = options;
  const found = await verify({
    databaseUrl: app.databaseUrl,
    from: from === undefined ? undefined : parseExactInstantOption('--from', from),
    to: to === undefined ? undefined : parseExactInstantOption('--to', to),
    kept: options.head === undefined ? undefined : readStatement(options.head),
    publicKey: options.publicKey === undefined ? undefined : readPublicKey(options.publicKey),
    signal,
  });
  if (options.json) printJson(found);
  else printText(formatVerification(found));
  if (signal.aborted) {
    printNotice('interrupted: the verification is incomplete');
    return exitCode.later;
  }
  const isSealed = found.until !== null && (begin ?? 0) < found.until.getTime();
  if (!isSealed && found.broken.length === 0) {
    printNotice(
      'the requested time is not sealed yet: run "chain-recorder seal", or let "up" run past midnight (UTC)',
    );
    return exitCode.failed;
  }
  return found.broken.length + found.differences.length + found.more > 0 ? exitCode.failed : exitCode.done;
}

/** Formats the result of `verify` for people. */
export function formatVerification(found: VerifyResult): string {
  const { seal, until, head, rows, ends, unsealed, removed, more } = found;
  const lines = [
    seal === null
      ? 'no seal'
      : `seal ${seal} until ${until && formatTime(until)}: ${rows} rows and ${ends} ends are unchanged since they were sealed; head ${head}`,
    ...(unsealed > 0 ? [`${unsealed} late rows and ends will be part of the next seal`] : []),
    ...(removed > 0 ? [`${removed} were removed, as declared`] : []),
    ...found.declared.map(
      ({ dataset, kind, reason, declared_at, seal }) =>
        `declared: ${dataset} ${kind} on ${formatTime(declared_at)} (${seal === null ? 'not sealed since' : `seal ${seal}`}): ${reason}`,
    ),
    ...found.broken,
    ...found.differences.map(describeDifference),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * Reads the statement of a seal from a file with the statement itself, or with the output of `seal --json`.
 * @throws UsageError if the file cannot be read, or is JSON without a statement
 */
function readStatement(file: string): string {
  const text = readInputFile(`--head ${file}`, file);
  if (!text.trimStart().startsWith('{')) return text;
  try {
    const parsed: unknown = JSON.parse(text);
    if (
      typeof parsed === 'object' &&
      parsed !== null &&
      'statement' in parsed &&
      typeof parsed.statement === 'string'
    )
      return parsed.statement;
  } catch {
    // Text that is not JSON gets the error below.
  }
  throw new UsageError([
    `--head ${file}: must contain the statement of a seal, or the output of "seal --json"`,
  ]);
}

/**
 * Reads a public key from a file, as SPKI in base64.
 * @throws UsageError if the file does not contain an ed25519 public key in PEM
 */
function readPublicKey(file: string): string {
  const problem = `--public-key ${file}: must hold an ed25519 public key in PEM`;
  let key: ReturnType<typeof createPublicKey>;
  try {
    key = createPublicKey(readInputFile(`--public-key ${file}`, file));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError([problem]);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new UsageError([problem]);
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}
